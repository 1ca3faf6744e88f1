import fc from 'fast-check';

import { lengthOfTurn, nextTurns, type WaitingKey } from '../../src/blackboard/fairness/turn-order.js';
import { printedSeed } from '../support/random.js';

const KEYS = fc
  .array(fc.record({ weight: fc.constantFrom(0.5, 1, 1.5, 2, 3, 10), most: fc.integer({ min: 1, max: 40 }) }), {
    minLength: 1,
    maxLength: 12,
  })
  .map((keys) =>
    keys.map(({ weight, most }, index) => ({ key: `k${index}`, turn: lengthOfTurn(weight), weight, most })),
  );

/** How often each key starts before the first start of another one, and between two starts of that one. */
function startsBetween(order: readonly string[], key: string): Map<string, number>[] {
  const gaps: Map<string, number>[] = [new Map()];
  for (const each of order) {
    if (each === key) gaps.push(new Map());
    else gaps.at(-1)!.set(each, (gaps.at(-1)!.get(each) ?? 0) + 1);
  }
  // Behind its last start it no longer waits.
  return gaps.slice(0, -1);
}

it('lets no key wait for more than ceil(W/w) rounds in which each other key starts at most once', () => {
  fc.assert(
    fc.property(KEYS, (keys) => {
      const order = nextTurns(keys, Infinity);
      expect(order).toHaveLength(keys.reduce((sum, { most }) => sum + most, 0));
      const all = keys.reduce((sum, { weight }) => sum + weight, 0);
      for (const { key, weight } of keys)
        for (const gap of startsBetween(order, key))
          for (const [other, starts] of gap) {
            expect(starts).toBeLessThanOrEqual(Math.floor(weightOf(keys, other) / weight) + 1);
            expect(starts).toBeLessThanOrEqual(Math.ceil(all / weight));
          }
    }),
    { seed: printedSeed() },
  );
});

it('gives keys with the same weight one start each before any of them has another', () => {
  fc.assert(
    fc.property(KEYS, (keys) => {
      const order = nextTurns(
        keys.map((key) => ({ ...key, weight: 2, turn: 0.5 })),
        Infinity,
      );
      for (const { key } of keys)
        for (const gap of startsBetween(order, key).slice(1))
          expect([...gap.values()].every((starts) => starts === 1)).toBe(true);
    }),
    { seed: printedSeed() },
  );
});

it('shares by weight as long as all keys wait', () => {
  const keys = [1, 2, 3].map((weight) => ({
    key: String(weight),
    turn: lengthOfTurn(weight),
    weight,
    most: Infinity,
  }));
  const order = nextTurns(keys, 600);
  for (const [key, most] of [
    ['1', 100],
    ['2', 200],
    ['3', 300],
  ] as const)
    expect(Math.abs(order.filter((each) => each === key).length - most)).toBeLessThanOrEqual(1);
});

const weightOf = (keys: readonly WaitingKey[], key: string): number => keys.find((each) => each.key === key)!.weight;
