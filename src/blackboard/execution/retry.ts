import type { RetryPolicy } from '../../catalog/definitions.js';

const JITTER = 0.2;
// The longest delay (a day) is below 2^27 times the shortest (1 ms): more doublings change nothing, and at 1,024 of them
// a policy without delay would wait 0 * Infinity, which is no time at all.
const MOST_DOUBLINGS = 40;

/**
 * When the attempt after `attempt` may start (epoch ms): the policy's delay, doubled for every failed attempt up to its
 * bound, give or take 20 % so that what failed together does not come back together. `random` is from [0, 1).
 */
export function nextAttemptAt(policy: RetryPolicy, attempt: number, now: number, random: number): number {
  const delay = Math.min(policy.delayMs * 2 ** Math.min(attempt - 1, MOST_DOUBLINGS), policy.maxDelayMs);
  return now + Math.round(delay * (1 - JITTER + 2 * JITTER * random));
}
