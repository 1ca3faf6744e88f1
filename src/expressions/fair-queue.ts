interface Line<Item> {
  items: Item[];
  spentMs: number;
}

/**
 * First in, first out for each key; between keys, the one that has had the least time comes next. What takes long thus holds
 * up its own key and no other. Keys are never forgotten.
 */
export class FairQueue<Item> {
  private readonly lines = new Map<string, Line<Item>>();
  private count = 0;
  /** How much time the key had that was served last: who comes back after a pause has no more to its credit. */
  private servedMs = 0;

  get size(): number {
    return this.count;
  }

  add(key: string, item: Item): void {
    const line = this.line(key);
    if (line.items.length === 0) line.spentMs = Math.max(line.spentMs, this.servedMs);
    line.items.push(item);
    this.count++;
  }

  take(): Item | undefined {
    let next: Line<Item> | undefined;
    for (const line of this.lines.values()) {
      if (line.items.length > 0 && (!next || line.spentMs < next.spentMs)) next = line;
    }
    if (!next) return undefined;
    this.servedMs = next.spentMs;
    this.count--;
    return next.items.shift();
  }

  /** Tells how long an item of this key has taken. */
  spend(key: string, ms: number): void {
    this.line(key).spentMs += ms;
  }

  private line(key: string): Line<Item> {
    let line = this.lines.get(key);
    if (!line) this.lines.set(key, (line = { items: [], spentMs: this.servedMs }));
    return line;
  }
}
