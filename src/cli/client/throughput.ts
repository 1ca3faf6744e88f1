interface Sample {
  at: number;
  items: number;
}

/** Long enough to hide the pauses between requests, short enough to follow a change of speed. */
const WINDOW_MS = 15_000;

/** Measures the speed of a batch over the last seconds. */
export class Throughput {
  private samples: Sample[] = [];

  /** `at`: milliseconds of a monotonic clock. */
  see(items: number, at: number): void {
    // Keeps one sample from before the window as its start.
    while (this.samples.length > 1 && at - this.samples[1]!.at >= WINDOW_MS) this.samples.shift();
    // Failed items that run again reduce the count.
    if (items < (this.samples.at(-1)?.items ?? 0)) this.samples = [];
    this.samples.push({ at, items });
  }

  /** Items per second; null if it is not known yet. */
  get perSecond(): number | null {
    const [first, last] = [this.samples[0], this.samples.at(-1)];
    return first && last && last.at > first.at ? (1_000 * (last.items - first.items)) / (last.at - first.at) : null;
  }

  /** Estimated seconds until `remaining` items are done; null if it is not known. */
  secondsFor(remaining: number): number | null {
    return this.perSecond ? remaining / this.perSecond : null;
  }
}
