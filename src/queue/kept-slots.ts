import type { FreeSlots, Slots } from './slots.js';

/**
 * Slots that are kept for rows which transactions are inserting with a lease, so that they need no claim. A row gets one
 * only if it would be claimed next: if nothing waits in its queue, and a slot is left for each row that the loop looks
 * for.
 */
export class KeptSlots {
  /** Queues in which the last search left nothing, and which were not woken since. */
  private readonly empty = new Set<string>();
  private readonly rows = new Set<string>();
  /** The most slots that the current search may take. */
  private searching = 0;
  private waiters: (() => void)[] = [];

  /** `pending`: the queues in which rows may wait. */
  constructor(
    private readonly slots: Slots,
    private readonly pending: ReadonlySet<string>,
  ) {}

  /** The rows that have a slot and are not committed yet. */
  get ids(): string[] {
    return [...this.rows];
  }

  get isUsed(): boolean {
    return this.rows.size > 0;
  }

  /** Whether a new row of the queue would be claimed next, and a slot is free for it. */
  isFree(queue: string): boolean {
    if (!this.empty.has(queue) || this.pending.has(queue)) return false;
    const { byQueue, total } = this.slots.free([queue]);
    return byQueue.has(queue) && total > this.searching + sum(this.slots.free(this.pending));
  }

  /** Returns false if the row has to wait in its queue. */
  keep(queue: string, id: string): boolean {
    if (!this.isFree(queue)) return false;
    this.slots.take(queue);
    this.rows.add(id);
    return true;
  }

  /** The row runs and has taken over the slot, or the slot is free again. Returns false if that was known. */
  end(id: string): boolean {
    const isNew = this.rows.delete(id);
    if (this.rows.size === 0) this.waiters.splice(0).forEach((resolve) => resolve());
    return isNew;
  }

  /** Resolves when no transaction holds a slot. */
  async unused(): Promise<void> {
    if (this.isUsed) await new Promise<void>((resolve) => this.waiters.push(resolve));
  }

  beginSearch(slots: FreeSlots): void {
    this.searching = Math.min(slots.total, sum(slots));
    for (const queue of slots.byQueue.keys()) this.empty.delete(queue);
  }

  /** `emptied`: the queues of which nothing is left. */
  endSearch(emptied: readonly string[] = []): void {
    this.searching = 0;
    emptied.forEach((queue) => this.empty.add(queue));
  }

  /** Discards what is known about the queues, which may be wrong. */
  forget(): void {
    this.empty.clear();
  }
}

const sum = ({ byQueue }: FreeSlots): number => [...byQueue.values()].reduce((all, free) => all + free, 0);
