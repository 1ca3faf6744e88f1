import fc from 'fast-check';

import { afterStart, earliestStart, unitsLeft } from '../../src/blackboard/limits/gcra.js';
import { printedSeed } from '../support/random.js';

const RATES = fc.record({
  count: fc.integer({ min: 1, max: 1_000 }),
  perMs: fc.integer({ min: 1, max: 100_000 }),
  burst: fc.integer({ min: 1, max: 50 }),
});
const NOW = 1_795_000_000_000;

/** Attempts that come after each other by these pauses (ms), and cost so many units. */
const ATTEMPTS = fc.array(fc.tuple(fc.integer({ min: 0, max: 5_000 }), fc.integer({ min: 0, max: 50 })), {
  minLength: 1,
  maxLength: 60,
});

it('never lets more start in any time than the burst and what the rate gives in it', () => {
  fc.assert(
    fc.property(RATES, ATTEMPTS, (rate, attempts) => {
      let now = NOW;
      let usedUntil = -Infinity;
      const starts: [at: number, units: number][] = [];
      for (const [pause, units] of attempts) {
        now += pause;
        if (units > rate.burst || earliestStart(rate, usedUntil, units) > now) continue;
        usedUntil = afterStart(rate, usedUntil, units, now);
        starts.push([now, units]);
      }
      for (const [from] of starts) {
        let units = 0;
        for (const [at, cost] of starts.filter(([at]) => at >= from)) {
          units += cost;
          // The tolerance of rounding, in units.
          const most = rate.burst + ((at - from + 0.01) * rate.count) / rate.perMs;
          expect(units).toBeLessThanOrEqual(most + 1e-6);
        }
      }
    }),
    { seed: printedSeed() },
  );
});

it('lets an attempt start at the time that it names, and not a millisecond before', () => {
  fc.assert(
    fc.property(RATES, ATTEMPTS, (rate, attempts) => {
      let now = NOW;
      let usedUntil = -Infinity;
      for (const [, units] of attempts.filter(([, units]) => units > 0 && units <= rate.burst)) {
        const at = earliestStart(rate, usedUntil, units);
        if (at > now) {
          expect(unitsLeft(rate, usedUntil, at - 1)).toBeLessThan(units);
          now = at;
        }
        expect(unitsLeft(rate, usedUntil, now)).toBeGreaterThanOrEqual(units);
        usedUntil = afterStart(rate, usedUntil, units, now);
      }
    }),
    { seed: printedSeed() },
  );
});

it('lets a whole burst start after a pause, and nothing more', () => {
  const rate = { count: 60, perMs: 60_000, burst: 5 };
  let usedUntil = -Infinity;
  for (let n = 0; n < 5; n += 1) {
    expect(earliestStart(rate, usedUntil, 1)).toBeLessThanOrEqual(NOW);
    usedUntil = afterStart(rate, usedUntil, 1, NOW);
  }
  expect(earliestStart(rate, usedUntil, 1)).toBe(NOW + 1_000);
  expect(unitsLeft(rate, usedUntil, NOW)).toBe(0);
  expect(unitsLeft(rate, usedUntil, NOW + 3_500)).toBe(3);
  expect(unitsLeft(rate, usedUntil, NOW + 60_000)).toBe(5);
});
