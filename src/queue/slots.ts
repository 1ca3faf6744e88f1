/** How many rows may be taken: of each queue, and in all. */
export interface FreeSlots {
  byQueue: ReadonlyMap<string, number>;
  total: number;
}

/** Queues that have a limit in common. A group that has as many as are still free gets no more, so that slow ones never keep them all. */
export interface QueueGroups {
  of(queue: string): string;
  limit: number;
}

/** Counts what runs in this process against the limits of each queue, of each group of queues and of the process. */
export class Slots {
  private readonly usedBy = new Map<string, number>();
  private readonly usedByGroup = new Map<string, number>();
  private used = 0;

  /** `limitOf`: how many of a queue may run at once in this process. */
  constructor(
    private readonly limitOf: (queue: string) => number,
    private readonly total: number,
    private readonly groups: QueueGroups | null = null,
  ) {}

  take(queue: string): void {
    this.used += 1;
    count(this.usedBy, queue, 1);
    if (this.groups) count(this.usedByGroup, this.groups.of(queue), 1);
  }

  release(queue: string): void {
    this.used -= 1;
    count(this.usedBy, queue, -1);
    if (this.groups) count(this.usedByGroup, this.groups.of(queue), -1);
  }

  /** What was taken waits for something else: it counts for its queue, and for the process only when it goes on. */
  beginWaiting(): void {
    this.used -= 1;
  }

  endWaiting(): void {
    this.used += 1;
  }

  /** What is free for `queues`; those without a free slot are left out. Of one group, the first ones get what is free for all of it. */
  free(queues: Iterable<string>): FreeSlots {
    const total = Math.max(this.total - this.used, 0);
    const byQueue = new Map<string, number>();
    const given = new Map<string, number>();
    for (const queue of queues) {
      const free = Math.min(this.limitOf(queue) - (this.usedBy.get(queue) ?? 0), this.freeOfGroup(queue, given, total));
      if (free <= 0 || total === 0) continue;
      byQueue.set(queue, free);
      if (this.groups) count(given, this.groups.of(queue), free);
    }
    return { byQueue, total };
  }

  private freeOfGroup(queue: string, given: ReadonlyMap<string, number>, total: number): number {
    if (!this.groups) return Infinity;
    const group = this.groups.of(queue);
    return Math.min(this.groups.limit, total) - (this.usedByGroup.get(group) ?? 0) - (given.get(group) ?? 0);
  }
}

// Queues without end come and go, where they are no agents.
function count(counts: Map<string, number>, name: string, difference: number): void {
  const value = (counts.get(name) ?? 0) + difference;
  if (value > 0) counts.set(name, value);
  else counts.delete(name);
}
