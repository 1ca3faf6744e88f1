import { PatternError, TOO_LARGE, TOO_LARGE_TOGETHER } from './pattern-error.js';

/** The maximum number of steps that building one pattern may visit: about a second, and at most 16 MB of tables. */
const MOST_WORK = 4_000_000;
const MOST_WORK_TOGETHER = 5 * MOST_WORK;

/** The remaining work for all patterns of a configuration together. */
export class PatternBudget {
  private left = MOST_WORK_TOGETHER;

  take(): void {
    if (this.left === 0) throw new PatternError(TOO_LARGE_TOGETHER);
    this.left -= 1;
  }
}

/** Counts the steps that building one pattern visits. */
export class PatternWork {
  private done = 0;

  constructor(private readonly budget: PatternBudget) {}

  /** Throws a PatternError if the pattern, or all patterns of the budget together, need too many steps. */
  count(): void {
    if (++this.done > MOST_WORK) throw new PatternError(TOO_LARGE);
    this.budget.take();
  }
}
