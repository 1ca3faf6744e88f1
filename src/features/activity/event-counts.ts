import { latencyIn, NO_LATENCY } from '../../blackboard/queries/latency-buckets.js';
import type { QuantilesBody } from '../../http/dto/quantiles-body.js';

/** How often an event occurred, with the latencies of these events in buckets. */
export class EventCounts {
  total = 0;
  private readonly byBucket = new Map<number, number>();

  /** Adds buckets with their counts, such as `3:12 4:1`. */
  add(buckets: string): void {
    for (const one of buckets.split(' ')) {
      const [bucket, count] = one.split(':').map(Number) as [number, number];
      this.total += count;
      if (bucket !== NO_LATENCY) this.byBucket.set(bucket, (this.byBucket.get(bucket) ?? 0) + count);
    }
  }

  addAll(other: EventCounts): void {
    this.total += other.total;
    for (const [bucket, count] of other.byBucket) this.byBucket.set(bucket, (this.byBucket.get(bucket) ?? 0) + count);
  }

  /** Null if no event had a latency. */
  quantiles(): QuantilesBody | null {
    if (this.byBucket.size === 0) return null;
    const inOrder = [...this.byBucket].sort(([one], [other]) => one - other);
    const known = inOrder.reduce((sum, [, count]) => sum + count, 0);
    const at = (share: number): number => latencyIn(bucketOfRank(inOrder, Math.ceil(share * known)));
    return { p50: at(0.5), p95: at(0.95), p99: at(0.99) };
  }
}

/** The bucket of the value at this place, from 1. */
function bucketOfRank(inOrder: readonly [bucket: number, count: number][], rank: number): number {
  let before = 0;
  return inOrder.find(([, count]) => (before += count) >= rank)![0];
}
