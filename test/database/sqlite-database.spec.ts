// Uses files on disk.
import { sql } from 'kysely';

import { SqliteDatabase } from '../../src/database/dialects/sqlite-database.js';
import { prepared } from '../../src/database/prepared.js';
import { Files } from './files.js';

const files = new Files();
afterAll(() => files.clear());

it('closes once, however often close is called, and then another one can open the file', async () => {
  const path = files.path();
  const database = files.open(path);
  expect(() => SqliteDatabase.open(path)).toThrow('is in use by another starling process');
  await Promise.all([database.close(), database.close()]);
  await database.close();
  await files.open(path).close();
});

it('does not prepare a query again each time for its limit', async () => {
  const database = files.open(files.path());
  const queryOf = (limit: 'bound' | 'literal') =>
    prepared<{ name: string; limit: number }, { name: string }>((db, place) =>
      db
        .selectFrom('rollups')
        .select('name')
        .where('name', '=', place('name'))
        .where(
          sql<boolean>`${sql.join(
            Array.from({ length: 30 }, (_, n) => sql`up_to_seq <> ${sql.lit(n)}`),
            sql` and `,
          )}`,
        )
        .limit(limit === 'bound' ? place('limit') : sql.lit(1)),
    );
  const queries = { bound: queryOf('bound'), literal: queryOf('literal') };
  // The fastest of several turns, because other programs run meanwhile.
  const fastest = { bound: Infinity, literal: Infinity };
  database.connection.exec('create table rollups (name text, up_to_seq integer); begin');
  for (let turn = 0; turn < 20; turn += 1)
    for (const [limit, query] of Object.entries(queries) as ['bound' | 'literal', typeof queries.bound][]) {
      const started = performance.now();
      for (let run = 0; run < 200; run += 1) await query(database.writer, { name: 'none', limit: 1 });
      fastest[limit] = Math.min(fastest[limit], performance.now() - started);
    }
  expect(fastest.bound).toBeLessThan(3 * fastest.literal);
  await database.close();
});
