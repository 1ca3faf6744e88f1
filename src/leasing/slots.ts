/** How many rows may be taken: of each line, and in all. */
export interface FreeSlots {
  byLine: ReadonlyMap<string, number>;
  total: number;
}

/** Lines that have a limit in common. A group that has as many as are still free gets no more, so that slow ones never keep them all. */
export interface LineGroups {
  of(line: string): string;
  limit: number;
}

/** Counts what runs in this process against the limits of each line, of each group of lines and of the process. */
export class Slots {
  private readonly usedBy = new Map<string, number>();
  private readonly usedByGroup = new Map<string, number>();
  private used = 0;

  /** `limitOf`: how many of a line may run at once in this process. */
  constructor(
    private readonly limitOf: (line: string) => number,
    private readonly total: number,
    private readonly groups: LineGroups | null = null,
  ) {}

  take(line: string): void {
    this.used += 1;
    count(this.usedBy, line, 1);
    if (this.groups) count(this.usedByGroup, this.groups.of(line), 1);
  }

  release(line: string): void {
    this.used -= 1;
    count(this.usedBy, line, -1);
    if (this.groups) count(this.usedByGroup, this.groups.of(line), -1);
  }

  /** What was taken waits for something else: it counts for its line, and for the process only when it goes on. */
  beginWaiting(): void {
    this.used -= 1;
  }

  endWaiting(): void {
    this.used += 1;
  }

  /** What is free for `lines`; those without a free slot are left out. Of one group, the first ones get what is free for all of it. */
  free(lines: Iterable<string>): FreeSlots {
    const total = Math.max(this.total - this.used, 0);
    const byLine = new Map<string, number>();
    const given = new Map<string, number>();
    for (const line of lines) {
      const free = Math.min(this.limitOf(line) - (this.usedBy.get(line) ?? 0), this.freeOfGroup(line, given, total));
      if (free <= 0 || total === 0) continue;
      byLine.set(line, free);
      if (this.groups) count(given, this.groups.of(line), free);
    }
    return { byLine, total };
  }

  private freeOfGroup(line: string, given: ReadonlyMap<string, number>, total: number): number {
    if (!this.groups) return Infinity;
    const group = this.groups.of(line);
    return Math.min(this.groups.limit, total) - (this.usedByGroup.get(group) ?? 0) - (given.get(group) ?? 0);
  }
}

// Lines without end come and go, where they are no agents.
function count(counts: Map<string, number>, name: string, difference: number): void {
  const value = (counts.get(name) ?? 0) + difference;
  if (value > 0) counts.set(name, value);
  else counts.delete(name);
}
