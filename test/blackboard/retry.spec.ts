import fc from 'fast-check';

import { nextAttemptAt } from '../../src/blackboard/execution/retry.js';
import { printedSeed } from '../support/random.js';

const NO_JITTER = 0.5;
const policy = { attempts: 20, delayMs: 100, maxDelayMs: 1_000 };

describe('the time of the next attempt', () => {
  it('doubles the delay with every failed attempt, up to its maximum', () => {
    const delays = [1, 2, 3, 4, 5, 6].map((attempt) => nextAttemptAt(policy, attempt, 0, NO_JITTER));
    expect(delays).toEqual([100, 200, 400, 800, 1_000, 1_000]);
  });

  it('counts from now', () => {
    expect(nextAttemptAt(policy, 1, 1_700_000_000_000, NO_JITTER)).toBe(1_700_000_000_100);
  });

  it('respects the maximum if it is below the first delay', () => {
    expect(nextAttemptAt({ ...policy, maxDelayMs: 40 }, 1, 0, NO_JITTER)).toBe(40);
  });

  it('is now if the policy asks for no delay', () => {
    expect(nextAttemptAt({ ...policy, delayMs: 0 }, 3, 7, 0)).toBe(7);
  });

  it('is now however often it has failed', () => {
    expect(nextAttemptAt({ ...policy, delayMs: 0 }, 1_025, 7, 0)).toBe(7);
  });

  it('varies by 20 % to either side', () => {
    expect(nextAttemptAt(policy, 1, 0, 0)).toBe(80);
    expect(nextAttemptAt(policy, 1, 0, 1 - Number.EPSILON)).toBe(120);
  });

  it('is a whole millisecond within 20 % of the bounded delay for any policy, and never before now', () => {
    const delay = fc.integer({ min: 0, max: 86_400_000 });
    const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    const now = fc.integer({ min: 0, max: 4_000_000_000_000 });
    fc.assert(
      fc.property(
        delay,
        delay,
        fc.integer({ min: 1, max: 5_000 }),
        now,
        random,
        (delayMs, maxDelayMs, attempt, start, chance) => {
          const waited = nextAttemptAt({ attempts: attempt + 1, delayMs, maxDelayMs }, attempt, start, chance) - start;
          const unspread = Math.min(delayMs * 2 ** Math.min(attempt - 1, 40), maxDelayMs);
          expect(Number.isSafeInteger(waited)).toBe(true);
          expect(waited).toBeGreaterThanOrEqual(Math.floor(unspread * 0.8));
          expect(waited).toBeLessThanOrEqual(Math.ceil(unspread * 1.2));
        },
      ),
      { seed: printedSeed() },
    );
  });
});
