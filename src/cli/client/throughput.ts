interface Sample {
  at: number;
  items: number;
}

/** Long enough that the pauses between looks do not show, short enough to follow a change of speed. */
const WINDOW_MS = 15_000;

/** How fast a batch goes on, by what was seen of it in the last seconds. */
export class Throughput {
  private samples: Sample[] = [];

  /** `at`: milliseconds of a clock that never goes back. */
  see(items: number, at: number): void {
    // What stands before the window is its beginning.
    while (this.samples.length > 1 && at - this.samples[1]!.at >= WINDOW_MS) this.samples.shift();
    // Failed items that run again lower the count.
    if (items < (this.samples.at(-1)?.items ?? 0)) this.samples = [];
    this.samples.push({ at, items });
  }

  /** Items a second; null where nothing can be said yet. */
  get perSecond(): number | null {
    const [first, last] = [this.samples[0], this.samples.at(-1)];
    return first && last && last.at > first.at ? (1_000 * (last.items - first.items)) / (last.at - first.at) : null;
  }

  /** Until `remaining` items are done; null where nobody knows. */
  secondsFor(remaining: number): number | null {
    return this.perSecond ? remaining / this.perSecond : null;
  }
}
