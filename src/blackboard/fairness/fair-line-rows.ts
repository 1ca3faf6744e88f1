import { type RawBuilder, sql } from 'kysely';

import { prepared, preparedWithList } from '../../database/prepared.js';
import type { FairKeyRow, Line } from './fair-key-rows.js';

/**
 * Whether the line has several keys. With an order and a limit of one, Postgres reads one entry of the index, whatever it
 * believes about the number of keys.
 */
const hasSeveralKeys = sql<boolean>`(
  select fair_key from fair_keys
  where agent = asked.column1
    and fair_key > (select fair_key from fair_keys where agent = asked.column1 order by fair_key limit 1)
  order by fair_key
  limit 1
) is not null`;

/** Finds those of the lines in which several keys wait. A key alone needs no turns. */
export const findShared = preparedWithList<object, string, { line: string; virtual_time: number }>(
  (db, _place, lines) => {
    const asked = sql<{
      column1: string;
    }>`(values ${sql.join(lines.map((line: RawBuilder<string>) => sql`(${line})`))})`;
    return db
      .selectFrom(asked.as('asked'))
      .distinct()
      .select([
        'asked.column1 as line',
        sql<number>`coalesce((select virtual_time from fair_agents where agent = asked.column1), 0)`.as('virtual_time'),
      ])
      .where(hasSeveralKeys);
  },
);

/** Finds the turns of these keys of a line. A key may have several rows. */
export const findTurns = preparedWithList<Line, string, FairKeyRow & { virtual_time: number }>((db, place, keys) =>
  db
    .selectFrom('fair_keys')
    .select([
      'fair_key',
      'turn',
      // Without it, the index of turns has all columns, and SQLite would read all keys of the line there.
      'weight',
      sql<number>`coalesce((select virtual_time from fair_agents where agent = ${place('line')}), 0)`.as(
        'virtual_time',
      ),
    ])
    .where('agent', '=', place('line'))
    .where('fair_key', 'in', keys),
);

/** Finds the keys of all lines after a position. */
export const findKeysAfter = prepared<
  { after: number; limit: number },
  { seq: number; agent: string; fair_key: string }
>((db, place) =>
  db
    .selectFrom('fair_keys')
    .select(['seq', 'agent', 'fair_key'])
    .where('seq', '>', place('after'))
    .orderBy('seq')
    .limit(place('limit')),
);
