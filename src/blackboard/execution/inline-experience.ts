/** Single answers may be of no use because the process was busy. After as many in a row, fewer executions run inline. */
const FEW_MISSES = 3;
const MOST_SKIPPED = 1_024;

/** The inline runs of one agent until now, which decide whether its next execution is tried inline. */
export class InlineExperience {
  /** Until it has answered within a turn of the event loop, one of its executions is tried at a time. */
  private hasAnswered = false;
  private needsClaim = false;
  /** Answers in a row that were of no use. */
  private misses = 0;
  /** Executions that are not tried. */
  private skipped = 0;
  private running = 0;

  /** Whether the next execution is tried. */
  tries(concurrency: number): boolean {
    if (this.needsClaim || this.running >= (this.hasAnswered ? concurrency : 1)) return false;
    if (this.skipped === 0) return true;
    this.skipped -= 1;
    return false;
  }

  /** Counts a run as running until it has returned, also if its answer comes too late. */
  async during<T>(run: Promise<T>): Promise<T> {
    this.running += 1;
    try {
      return await run;
    } finally {
      this.running -= 1;
    }
  }

  answered(): void {
    this.hasAnswered = true;
  }

  /** Ends inline runs of the agent: it answers later, or has read the blackboard, on which its inputs are not stored yet. */
  end(): void {
    this.needsClaim = true;
  }

  get hasEnded(): boolean {
    return this.needsClaim;
  }

  /** `isUseful`: it was quick, and its execution can be stored with it. Otherwise the agent was called for nothing. */
  count(isUseful: boolean): void {
    this.misses = isUseful ? 0 : this.misses + 1;
    if (this.misses >= FEW_MISSES) this.skipped = Math.min(2 ** this.misses, MOST_SKIPPED);
  }
}
