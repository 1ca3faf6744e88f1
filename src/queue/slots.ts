/** How many rows may be claimed: from each queue and in total. */
export interface FreeSlots {
  byQueue: ReadonlyMap<string, number>;
  total: number;
}

/**
 * Queues that share a limit. A group that has used as many slots as are still free gets no more, so that slow queues
 * never take all slots.
 */
export interface QueueGroups {
  of(queue: string): string;
  limit: number;
}

/** Counts what runs in this process against the limits of each queue, of each queue group and of the process. */
export class Slots {
  private readonly usedBy = new Map<string, number>();
  private readonly usedByGroup = new Map<string, number>();
  private used = 0;

  /** `limitOf` returns how many rows of a queue may run at the same time in this process. */
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

  /**
   * The work that has this slot waits for something else. It counts for its queue, but not for the process until it
   * continues.
   */
  beginWaiting(): void {
    this.used -= 1;
  }

  endWaiting(): void {
    this.used += 1;
  }

  /**
   * Returns the free slots of `queues`. Queues without a free slot are left out. The first queues of a group get all
   * free slots of the group.
   */
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

// Entries with zero are deleted, because the number of queues that are not agents is unbounded.
function count(counts: Map<string, number>, name: string, difference: number): void {
  const value = (counts.get(name) ?? 0) + difference;
  if (value > 0) counts.set(name, value);
  else counts.delete(name);
}
