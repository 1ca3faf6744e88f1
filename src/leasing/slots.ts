/** How many rows may be taken: of each line, and in all. */
export interface FreeSlots {
  byLine: ReadonlyMap<string, number>;
  total: number;
}

/** Counts what runs in this process against the limits of each line and of the process. */
export class Slots {
  private readonly usedBy = new Map<string, number>();
  private used = 0;

  /** `limitOf`: how many of a line may run at once in this process. */
  constructor(
    private readonly limitOf: (line: string) => number,
    private readonly total: number,
  ) {}

  take(line: string): void {
    this.used += 1;
    this.usedBy.set(line, (this.usedBy.get(line) ?? 0) + 1);
  }

  // Lines without end come and go, where they are no agents.
  release(line: string): void {
    this.used -= 1;
    const left = this.usedBy.get(line)! - 1;
    if (left > 0) this.usedBy.set(line, left);
    else this.usedBy.delete(line);
  }

  /** What is free for `lines`; those without a free slot are left out. */
  free(lines: Iterable<string>): FreeSlots {
    const total = Math.max(this.total - this.used, 0);
    const byLine = new Map<string, number>();
    for (const line of lines) {
      const free = this.limitOf(line) - (this.usedBy.get(line) ?? 0);
      if (free > 0 && total > 0) byLine.set(line, free);
    }
    return { byLine, total };
  }
}
