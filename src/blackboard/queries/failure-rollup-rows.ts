import { type Selectable, sql } from 'kysely';

import { places, prepared } from '../../database/prepared.js';
import type { FailureChangesTable, FailureGroupsTable } from '../../database/schema.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { isIn, type Range } from './rollup-rows.js';

export type FailureChange = Selectable<FailureChangesTable>;

/** A failure group with the failures to add to it. */
export type CountedFailures = Selectable<FailureGroupsTable>;

/** Finds the changes between two positions. */
export const findChanges = ({ db }: Transaction, range: Range): Promise<FailureChange[]> =>
  db.selectFrom('failure_changes').selectAll().where(isIn(range)).orderBy('seq').execute();

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
