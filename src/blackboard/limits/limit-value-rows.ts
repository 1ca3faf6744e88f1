import { sql } from 'kysely';

import { preparedWithList } from '../../database/prepared.js';
import type { LimitValuesTable } from '../../database/schema/execution-tables.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { MOST_COUNTED } from './limit-rows.js';

/** Finds those of the names that a client has set values for. */
export const findLimitValues = preparedWithList<object, string, LimitValuesTable>((db, _place, names) =>
  db.selectFrom('limit_values').selectAll().where('name', 'in', names),
);

export async function saveLimitValues({ db }: Transaction, { name, ...set }: LimitValuesTable): Promise<void> {
  await db
    .insertInto('limit_values')
    .values({ name, ...set })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(set))
    .execute();
}

export async function deleteLimitValues({ db }: Transaction, name: string): Promise<void> {
  await db.deleteFrom('limit_values').where('name', '=', name).execute();
}

/** Counts what waits by limit and key, until it has counted one more than `MOST_COUNTED`. */
export async function countAllBlocked(db: Reader): Promise<{ blocked_on: string; count: number }[]> {
  const { rows } = await sql<{ blocked_on: string; count: number }>`
    select blocked_on, count(*) as count
    from (select blocked_on from executions where blocked_on is not null limit ${MOST_COUNTED + 1}) as blocked
    group by blocked_on`.execute(db);
  return rows.map(({ blocked_on, count }) => ({ blocked_on, count: Number(count) }));
}
