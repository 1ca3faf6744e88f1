import type { RetryPolicy } from '../../catalog/definitions.js';

const JITTER = 0.2;
// The longest delay (a day) is less than 2^27 times the shortest (1 ms), so more doublings change nothing. With 1,024
// of them a policy without delay would compute 0 * Infinity, which is NaN.
const MOST_DOUBLINGS = 40;

/**
 * When the attempt after `attempt` may start (epoch ms). The policy's delay is doubled for each failed attempt up to
 * its limit, and varied by 20 % so that executions that failed together do not retry together. `random` is in [0, 1).
 */
export function nextAttemptAt(policy: RetryPolicy, attempt: number, now: number, random: number): number {
  const delay = Math.min(policy.delayMs * 2 ** Math.min(attempt - 1, MOST_DOUBLINGS), policy.maxDelayMs);
  return now + Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}
