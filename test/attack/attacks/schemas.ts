import type { Answered } from '../requests.js';
import { ask, type Attack } from './attack.js';

const publishes = (name: string, count: number, body: object): Attack => ({
  name,
  async run(target) {
    const answers: Answered[] = [];
    for (let n = 0; n < count; n += 1)
      answers.push(await ask(target, { path: '/api/v1/artifacts', body, timeoutMs: 10_000 }));
    return answers;
  },
});

/** Nests `inmost` in this many lists. */
const nested = (levels: number, inmost: unknown): unknown => (levels === 0 ? inmost : [nested(levels - 1, inmost)]);

export const SCHEMAS: Attack[] = [
  publishes('texts that a backtracking search for a pattern would never be done with', 100, {
    type: 'Named',
    payload: { name: `${'a'.repeat(40)}!` },
  }),
  publishes('40,000 objects that have to be unique', 5, {
    type: 'Set',
    payload: { items: Array.from({ length: 40_000 }, (_, n) => ({ n })) },
  }),
  publishes('lists in lists that all have to be unique, 58 levels down', 5, {
    type: 'NestedSet',
    payload: {
      items: nested(
        58,
        Array.from({ length: 130_000 }, (_, n) => n),
      ),
    },
  }),
];
