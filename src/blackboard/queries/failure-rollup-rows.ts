import { type Selectable, sql } from 'kysely';

import { amongFound } from '../../database/dialects/dialect.js';
import { places, prepared } from '../../database/prepared.js';
import type { FailureChangesTable, FailureGroupsTable } from '../../database/schema.js';
import type { Transaction } from '../../database/unit-of-work.js';

export type FailureChange = Selectable<FailureChangesTable>;

/** A failure group with the failures to add to it. */
export type CountedFailures = Selectable<FailureGroupsTable>;

/** Finds the first changes after a position. */
export const findChanges = (
  { db }: Transaction,
  after: number,
  upTo: number,
  limit: number,
): Promise<FailureChange[]> =>
  db
    .selectFrom('failure_changes')
    .selectAll()
    .where('seq', '>', after)
    .where('seq', '<=', upTo)
    .orderBy('seq')
    .limit(limit)
    .execute();

/** Deletes the first changes up to a position. Returns how many it deleted. */
export async function deleteChanges({ db }: Transaction, upTo: number, limit: number): Promise<number> {
  const rolledUp = db.selectFrom('failure_changes').select('seq').where('seq', '<=', upTo).orderBy('seq').limit(limit);
  const { numDeletedRows } = await db
    .deleteFrom('failure_changes')
    .where(amongFound(db, 'seq', rolledUp))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

/** Adds failures to a group, which may be new. */
export const upsertGroup = prepared<CountedFailures, unknown>((db, place) =>
  db
    .insertInto('failure_groups')
    .values(places(place, ['id', 'agent', 'error_type', 'message', 'count', 'first_at', 'last_at']))
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        count: eb('failure_groups.count', '+', eb.ref('excluded.count')),
        first_at: sql<number>`case when excluded.first_at < failure_groups.first_at then excluded.first_at else failure_groups.first_at end`,
        last_at: sql<number>`case when excluded.last_at > failure_groups.last_at then excluded.last_at else failure_groups.last_at end`,
      })),
    ),
);

/** Changes the count of a group that exists. */
export const changeCount = prepared<{ id: string; change: number }, unknown>((db, place) =>
  db
    .updateTable('failure_groups')
    .set(({ eb }) => ({ count: eb('count', '+', place('change')) }))
    .where('id', '=', place('id')),
);
