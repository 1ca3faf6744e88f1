import { type Insertable, sql } from 'kysely';

import type { OperationsTable, OperationState } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { Handled, Operation } from './operation.js';

export const findOperation = (db: Reader, id: string): Promise<Operation | undefined> =>
  db.selectFrom('operations').selectAll().where('id', '=', id).executeTakeFirst();

/** Returns the page, newest first, plus one further row where more rows match. */
export const findOperations = (
  db: Reader,
  { limit, offset }: { limit: number; offset: number },
): Promise<Operation[]> =>
  db
    .selectFrom('operations')
    .selectAll()
    .orderBy('seq', 'desc')
    .limit(limit + 1)
    .offset(offset)
    .execute();

/** Finds the running operations, oldest first. */
export const findRunning = (db: Reader): Promise<Operation[]> =>
  db
    .selectFrom('operations')
    .selectAll()
    .where('state', '=', sql.lit('running' as const))
    .orderBy('seq')
    .execute();

/** Does nothing if the id is in use. */
export async function insertOperation({ db }: Transaction, operation: Insertable<OperationsTable>): Promise<void> {
  await db
    .insertInto('operations')
    .values(operation)
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute();
}

/** Moves the position of a running operation. Returns false if it runs no more. */
export async function moveTo({ db }: Transaction, id: string, position: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('operations')
    .set({ position })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function addHandled({ db }: Transaction, id: string, { done, failed, lastError }: Handled): Promise<void> {
  await db
    .updateTable('operations')
    .set(({ eb }) => ({
      done: eb('done', '+', done),
      failed: eb('failed', '+', failed),
      ...(lastError !== null && { last_error: lastError }),
    }))
    .where('id', '=', id)
    .execute();
}

/** Ends a running operation. Returns false if it runs no more. */
export async function endOperation(
  { db }: Transaction,
  id: string,
  state: Exclude<OperationState, 'running'>,
  now: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('operations')
    .set({ state, ended_at: now })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** Finds the next operations after a position. */
export const findAfter = (
  db: Reader,
  after: number,
  limit: number,
): Promise<Pick<Operation, 'seq' | 'id' | 'created_at'>[]> =>
  db
    .selectFrom('operations')
    .select(['seq', 'id', 'created_at'])
    .where('seq', '>', after)
    .orderBy('seq')
    .limit(limit)
    .execute();

/** Returns those of the operations that ended at or before `cutoff`. */
export async function findEndedAmong(db: Reader, ids: readonly string[], cutoff: number): Promise<string[]> {
  const rows = await db
    .selectFrom('operations')
    .select('id')
    .where('id', 'in', ids)
    .where('ended_at', '<=', cutoff)
    .execute();
  return rows.map(({ id }) => id);
}

export async function deleteOperations({ db }: Transaction, ids: readonly string[]): Promise<void> {
  await db.deleteFrom('operations').where('id', 'in', ids).execute();
}
