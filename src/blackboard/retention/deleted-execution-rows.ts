import { type Expression, type RawBuilder, sql, type SqlBool } from 'kysely';

import { amongFound } from '../../database/dialects/dialect.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { rolledUpTo } from '../queries/rollup-rows.js';
import { AT_ONCE } from './cleanup.js';

/** An execution that has ended. */
export interface EndedExecution {
  id: string;
  correlation_id: string;
}

/** Finds the next executions after a position, in the order in which they were made. */
export const findExecutionsAfter = prepared<{ after: number }, { seq: number; id: string; created_at: number }>(
  (db, place) =>
    db
      .selectFrom('executions')
      .select(['seq', 'id', 'created_at'])
      .where('seq', '>', place('after'))
      .orderBy('seq')
      .limit(AT_ONCE),
);

export const deleteInputs = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('execution_inputs').where('execution_id', 'in', ids),
);

export const deleteAttempts = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('execution_attempts').where('execution_id', 'in', ids),
);

export const deleteToolCalls = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('tool_calls').where('execution_id', 'in', ids),
);

/** Subtracts those of the executions that have failed from the counts of their failure groups. */
export const uncountFailures = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db
    .insertInto('failure_changes')
    .columns(['failure_group', 'change'])
    .expression(
      db
        .selectFrom('executions')
        .select(({ ref }) => [ref('failure_group').$notNull().as('failure_group'), sql<number>`-count(*)`.as('change')])
        .where('id', 'in', ids)
        .where(sql<boolean>`coalesce(failure_group, '') <> ''`)
        .groupBy('failure_group'),
    ),
);

/** Deletes some failure groups that have no failed execution any more and failed last at or before `cutoff`. */
export async function deleteEmptyGroups({ db }: Transaction, cutoff: number): Promise<number> {
  const empty = db
    .selectFrom('failure_groups')
    .select('id')
    .where('count', '=', sql.lit(0))
    .where('last_at', '<=', cutoff)
    .limit(AT_ONCE);
  const { numDeletedRows } = await db
    .deleteFrom('failure_groups')
    .where(amongFound(db, 'id', empty))
    // Another process may have counted a failure since the query.
    .where('count', '=', sql.lit(0))
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export const deleteExecutions = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('executions').where('id', 'in', ids),
);

/**
 * Makes a query for those executions that ended at or before `cutoff` and whose correlation meets the condition. The
 * condition is built on first use.
 */
export const findingFreeExecutions = (letsContentGo: (settledBy: RawBuilder<number>) => Expression<SqlBool>) =>
  preparedWithList<{ settledBy: number; cutoff: number }, string, EndedExecution>((db, place, ids) =>
    db
      .selectFrom('executions')
      .innerJoin('correlations', 'correlations.id', 'executions.correlation_id')
      .select(['executions.id', 'executions.correlation_id'])
      .where('executions.id', 'in', ids)
      // A rollup that has not reached it still finds its correlation by it.
      .where('executions.seq', '<=', rolledUpTo('execution_terms'))
      // This is as in `isInState`: a lookup by id must not use the partial indexes on ended executions.
      .where(sql<number>`coalesce(executions.ended_at, ${sql.lit(Number.MAX_SAFE_INTEGER)})`, '<=', place('cutoff'))
      .where(letsContentGo(place('settledBy'))),
  );
