import { type RawBuilder, sql } from 'kysely';

import { prepared, preparedWithList } from '../../database/prepared.js';
import type { Line } from './fair-key-rows.js';

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
      .where(sql<boolean>`(select seq from fair_keys where agent = asked.column1 limit 1 offset 1) is not null`);
  },
);

/** Finds the turns of these keys of a line. A key may have several rows. */
export const findTurns = preparedWithList<Line, string, { fair_key: string; turn: number; virtual_time: number }>(
  (db, place, keys) =>
    db
      .selectFrom('fair_keys')
      .select([
        'fair_key',
        'turn',
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
