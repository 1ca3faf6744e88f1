import { PatternError, TOO_LARGE, TOO_LARGE_TOGETHER } from './pattern-error.js';

/** Steps looked at for one pattern: about a second, and no more than 16 MB of tables. */
const MOST_WORK = 4_000_000;
const MOST_WORK_TOGETHER = 5 * MOST_WORK;

/** What the patterns of a configuration may still take together. */
export class PatternBudget {
  private left = MOST_WORK_TOGETHER;

  take(): void {
    if (this.left === 0) throw new PatternError(TOO_LARGE_TOGETHER);
    this.left -= 1;
  }
}

/** Counts the steps that are looked at to make one pattern. */
export class PatternWork {
  private done = 0;

  constructor(private readonly budget: PatternBudget) {}

  /** PatternError where the pattern, or all of its budget together, take too many. */
  count(): void {
    if (++this.done > MOST_WORK) throw new PatternError(TOO_LARGE);
    this.budget.take();
  }
}
