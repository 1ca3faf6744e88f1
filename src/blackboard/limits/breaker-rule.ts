import type { BreakerRule } from '../../catalog/definitions.js';

// A breaker is closed, open or half-open. Closed, it counts the last attempts. Open, it lets nothing start. Half-open,
// it lets one attempt start at a time, and the first that ends decides. Without a failure there is nothing to remember.

const FAILED = '1';
const WORKED = '0';

/** When a breaker opens, and for how long. */
export type AttemptRule = Pick<BreakerRule, 'failures' | 'of' | 'openMs'>;

export interface BreakerState {
  /** A letter for each of the last attempts, the oldest first. Empty unless the breaker is closed. */
  outcomes: string;
  /** The end of the time in which nothing starts (epoch ms); after it, the breaker is half-open. Null: it is closed. */
  openUntil: number | null;
}

/** An attempt that ended at `now` (epoch ms). */
export interface EndedAttempt {
  startedAt: number;
  failed: boolean;
  now: number;
}

/** The breaker after an attempt. Null: it is closed, and no failure counts. */
export function afterAttempt(
  { failures, of, openMs }: AttemptRule,
  state: BreakerState | null,
  { startedAt, failed, now }: EndedAttempt,
): BreakerState | null {
  const open = { outcomes: '', openUntil: now + openMs };
  if (state !== null && state.openUntil !== null) {
    // An attempt from before says nothing about the time since.
    if (startedAt < state.openUntil) return state;
    return failed ? open : null;
  }
  const outcomes = ((state?.outcomes ?? '') + (failed ? FAILED : WORKED)).slice(-of);
  const failedOnes = outcomes.split(FAILED).length - 1;
  if (failedOnes >= failures) return open;
  return failedOnes === 0 ? null : { outcomes, openUntil: null };
}
