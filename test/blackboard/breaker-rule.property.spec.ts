import fc from 'fast-check';

import { afterAttempt, type BreakerState } from '../../src/blackboard/limits/breaker-rule.js';
import { printedSeed } from '../support/random.js';

const NOW = 1_795_000_000_000;
const RULES = fc
  .integer({ min: 1, max: 12 })
  .chain((of) => fc.record({ of: fc.constant(of), failures: fc.integer({ min: 1, max: of }) }))
  .chain((counts) =>
    fc.record({ ...mapped(counts), openMs: fc.integer({ min: 1, max: 10_000 }), key: fc.constant(null) }),
  );

const mapped = ({ of, failures }: { of: number; failures: number }) => ({
  of: fc.constant(of),
  failures: fc.constant(failures),
});

it('opens exactly when so many of the last attempts have failed', () => {
  fc.assert(
    fc.property(RULES, fc.array(fc.boolean(), { maxLength: 60 }), (rule, outcomes) => {
      let state: BreakerState | null = null;
      for (const [index, failed] of outcomes.entries()) {
        state = afterAttempt(rule, state, { startedAt: NOW + index, failed, now: NOW + index });
        const last = outcomes.slice(0, index + 1).slice(-rule.of);
        const mustOpen = last.filter(Boolean).length >= rule.failures;
        expect(state?.openUntil ?? null).toBe(mustOpen ? NOW + index + rule.openMs : null);
        if (mustOpen) return;
        // Without a failure, there is nothing to store.
        expect(state === null).toBe(!last.includes(true));
      }
    }),
    { seed: printedSeed() },
  );
});

it('is decided by the first attempt that starts after its time, and by no earlier one', () => {
  fc.assert(
    fc.property(RULES, fc.boolean(), fc.integer({ min: 0, max: 20_000 }), fc.nat(5_000), (rule, failed, at, lasted) => {
      const open: BreakerState = { outcomes: '', openUntil: NOW + rule.openMs };
      const startedAt = NOW + at;
      const now = startedAt + lasted;
      const state = afterAttempt(rule, open, { startedAt, failed, now });
      if (at < rule.openMs) expect(state).toEqual(open);
      else expect(state).toEqual(failed ? { outcomes: '', openUntil: now + rule.openMs } : null);
    }),
    { seed: printedSeed() },
  );
});
