// Also reads the source files of the repository.
import { globSync, readFileSync } from 'node:fs';

import fc from 'fast-check';

import { changeState } from '../../src/queue/change-state.js';
import { isAllowed, type TableWithStates, TRANSITIONS } from '../../src/queue/transitions.js';
import { printedSeed } from '../support/random.js';
import { compilingDatabase } from './compiling-database.js';

/** The states in which work that has not ended is inserted, and those in which it may stay. */
const ENDS = {
  executions: { first: ['pending', 'running'], last: ['completed', 'failed', 'cancelled'] },
  deliveries: { first: ['waiting', 'pending'], last: ['delivered', 'dead'] },
};

const db = compilingDatabase();

const tables = Object.keys(TRANSITIONS) as TableWithStates[];
const nextOf = (table: TableWithStates): Record<string, readonly string[]> => TRANSITIONS[table];

function reached(table: TableWithStates, from: readonly string[]): Set<string> {
  const all = new Set(from);
  for (const state of all) nextOf(table)[state]!.forEach((next) => all.add(next));
  return all;
}

describe.each(tables)('the states of %s', (table) => {
  const states = Object.keys(TRANSITIONS[table]);
  const { first, last } = ENDS[table];

  it('are all reached, and lead to an end', () => {
    expect([...reached(table, first)].sort()).toEqual([...states].sort());
    for (const state of states) expect([...reached(table, [state])].some((next) => last.includes(next))).toBe(true);
  });

  it('change only as the table of transitions allows', () => {
    fc.assert(
      fc.property(fc.subarray(states, { minLength: 1 }), fc.constantFrom(...states), (from, to) => {
        const change = () => changeState(db, table, from as never, to as never).compile();
        if (from.every((state) => isAllowed(table, state, to))) {
          const { sql, parameters } = change();
          expect(sql).toContain(`update "${table}" set "state" = ? where coalesce("${table}"."state", '')`);
          expect(parameters).toEqual([to]);
          for (const state of states) expect(sql.includes(`'${state}'`)).toBe(from.includes(state));
        } else expect(change).toThrow(`${table} may not change from`);
      }),
      { seed: printedSeed() },
    );
  });
});

it('the compiler refuses other changes of a state', () => {
  // @ts-expect-error: a completed execution stays completed
  expect(() => changeState(db, 'executions', ['completed'], 'pending')).toThrow('from completed to pending');
  // @ts-expect-error: only one of the two may end
  expect(() => changeState(db, 'deliveries', ['running', 'waiting'], 'delivered')).toThrow('from waiting to delivered');
  // @ts-expect-error: only changeState sets a state
  db.updateTable('executions').set({ state: 'completed' });
  // @ts-expect-error: only changeState sets a state
  db.updateTable('deliveries').set({ state: 'dead' });
});

it('no text of SQL changes a row that has a state', () => {
  const files = globSync('src/**/*.ts', { exclude: ['src/database/migrations/**'] });
  expect(files.length).toBeGreaterThan(300);
  const raw = new RegExp(`\\bupdate\\s+(?:${tables.join('|')})\\b|\\bset\\s+state\\b`, 'i');
  const cast = /\.set\([^)]*\bstate\b[^)]*\bas (?:never|any|object)\b/;
  const changing = files.filter((file) => [raw, cast].some((way) => way.test(readFileSync(file, 'utf8'))));
  expect(changing).toEqual(['src/queue/change-state.ts']);
});
