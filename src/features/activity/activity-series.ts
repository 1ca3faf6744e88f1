import type { StepCounts } from '../../blackboard/queries/activity-counts.repository.js';
import type { AgentUsage } from '../../blackboard/queries/activity-totals.repository.js';
import { toTimestamp } from '../../common/timestamp.js';
import { usageField } from '../../http/dto/usage-body.js';
import type { ActivityCountsBody, ActivitySeriesBody } from './dto/activity-body.js';
import { EventCounts } from './event-counts.js';

/** The events of one step, or of several together. */
class Tally {
  readonly started = new EventCounts();
  readonly retried = new EventCounts();
  readonly failed = new EventCounts();
  /** Completed or failed. */
  readonly ended = new EventCounts();

  add({ event, buckets }: Pick<StepCounts, 'event' | 'buckets'>): void {
    if (event !== 'completed') this[event].add(buckets);
    if (event === 'completed' || event === 'failed') this.ended.add(buckets);
  }

  addAll(other: Tally): void {
    for (const counts of ['started', 'retried', 'failed', 'ended'] as const) this[counts].addAll(other[counts]);
  }

  body(): ActivityCountsBody {
    return {
      starts: this.started.total,
      ends: this.ended.total,
      failures: this.failed.total,
      retries: this.retried.total,
      duration_ms: this.ended.quantiles(),
      queue_ms: this.started.quantiles(),
    };
  }
}

type Usage = Omit<AgentUsage, 'agent'>;

/** The counts of one agent, or of all together, in each of these steps. */
export class ActivitySeries {
  private readonly byStart: Map<number, Tally>;
  private readonly usage: Usage = { input_tokens: 0, output_tokens: 0, cost: null };

  /** `starts`: of all steps, in order (epoch ms). */
  constructor(starts: readonly number[]) {
    this.byStart = new Map(starts.map((start) => [start, new Tally()]));
  }

  /** Leaves out what belongs to another step: a process whose clock is ahead may have begun the next one. */
  add(counts: StepCounts): void {
    this.byStart.get(counts.start)?.add(counts);
  }

  addUsage({ input_tokens, output_tokens, cost }: Usage): void {
    this.usage.input_tokens += input_tokens;
    this.usage.output_tokens += output_tokens;
    if (cost !== null) this.usage.cost = (this.usage.cost ?? 0) + cost;
  }

  body(): ActivitySeriesBody {
    const sum = new Tally();
    for (const tally of this.byStart.values()) sum.addAll(tally);
    const steps = [...this.byStart].map(([start, tally]) => ({ start: toTimestamp(start), ...tally.body() }));
    return { ...sum.body(), ...usageField(this.usage), steps };
  }
}
