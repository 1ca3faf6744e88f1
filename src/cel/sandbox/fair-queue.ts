interface KeyQueue<Item> {
  items: Item[];
  spentMs: number;
}

/**
 * First in, first out for each key. Among the keys, the one that has used the least time comes next, so that slow items
 * delay only their own key. Keys are never removed.
 */
export class FairQueue<Item> {
  private readonly queues = new Map<string, KeyQueue<Item>>();
  private count = 0;
  /**
   * The time used by the last served key. A key that returns after a pause starts from it and gets no credit for the
   * pause.
   */
  private servedMs = 0;

  get size(): number {
    return this.count;
  }

  add(key: string, item: Item): void {
    const queue = this.queueOf(key);
    if (queue.items.length === 0) queue.spentMs = Math.max(queue.spentMs, this.servedMs);
    queue.items.push(item);
    this.count++;
  }

  take(): Item | undefined {
    let next: KeyQueue<Item> | undefined;
    for (const queue of this.queues.values()) {
      if (queue.items.length > 0 && (!next || queue.spentMs < next.spentMs)) next = queue;
    }
    if (!next) return undefined;
    this.servedMs = next.spentMs;
    this.count--;
    return next.items.shift();
  }

  /** Records how long an item of this key took. */
  spend(key: string, ms: number): void {
    this.queueOf(key).spentMs += ms;
  }

  private queueOf(key: string): KeyQueue<Item> {
    let queue = this.queues.get(key);
    if (!queue) this.queues.set(key, (queue = { items: [], spentMs: this.servedMs }));
    return queue;
  }
}
