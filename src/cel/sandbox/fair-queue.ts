interface KeyQueue<Item> {
  items: Item[];
  spentMs: number;
}

/**
 * First in, first out for each key; between keys, the one that has had the least time comes next. What takes long thus holds
 * up its own key and no other. Keys are never forgotten.
 */
export class FairQueue<Item> {
  private readonly queues = new Map<string, KeyQueue<Item>>();
  private count = 0;
  /** How much time the key had that was served last: who comes back after a pause has no more to its credit. */
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

  /** Records how long an item of this key has taken. */
  spend(key: string, ms: number): void {
    this.queueOf(key).spentMs += ms;
  }

  private queueOf(key: string): KeyQueue<Item> {
    let queue = this.queues.get(key);
    if (!queue) this.queues.set(key, (queue = { items: [], spentMs: this.servedMs }));
    return queue;
  }
}
