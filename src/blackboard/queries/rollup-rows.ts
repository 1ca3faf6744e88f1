import { type Expression, expressionBuilder, sql, type SqlBool } from 'kysely';

import { amongFound } from '../../database/dialects/dialect.js';
import { prepared } from '../../database/prepared.js';
import type { Schema } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';

/** The rollups by their names in the table `rollups`, with the table whose rows each of them reads. */
const TABLES = {
  artifacts: 'artifacts',
  artifact_terms: 'artifacts',
  execution_terms: 'executions',
  activity: 'activity',
  failure_changes: 'failure_changes',
} as const;

export type RollupName = keyof typeof TABLES;

export const tableOf = (rollup: RollupName) => TABLES[rollup];

/** The positions after `from`, up to `to`. */
export interface Range {
  from: number;
  to: number;
}

/** The condition that a row's position is in a range. */
export const isIn = ({ from, to }: Range): Expression<SqlBool> => sql<SqlBool>`seq > ${from} and seq <= ${to}`;

/** A subquery for the position up to which a rollup is complete. */
export function rolledUpTo(rollup: RollupName) {
  const eb = expressionBuilder<Schema, never>();
  return eb.fn.coalesce(
    eb.selectFrom('rollups').select('rollups.up_to_seq').where('rollups.name', '=', rollup),
    sql.lit(0),
  );
}

/** The positions up to which the terms of correlations are rolled up. */
export async function termsReached(db: Reader): Promise<{ artifacts: number; executions: number }> {
  const [reached] = await findTermsReached(db, {});
  return reached!;
}

const findTermsReached = prepared<object, { artifacts: number; executions: number }>((db) =>
  db.selectNoFrom([rolledUpTo('artifact_terms').as('artifacts'), rolledUpTo('execution_terms').as('executions')]),
);

export async function positionOf(tx: Transaction, rollup: RollupName): Promise<number> {
  const row = await tx.db.selectFrom('rollups').select('up_to_seq').where('name', '=', rollup).executeTakeFirst();
  if (row) return row.up_to_seq;
  await tx.db
    .insertInto('rollups')
    .values({ name: rollup, up_to_seq: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return 0;
}

/**
 * Moves the position of a rollup. Returns false if another process has moved it first; that process then does the step.
 */
export async function moveOn(tx: Transaction, rollup: RollupName, { from, to }: Range): Promise<boolean> {
  const moved = await tx.db
    .updateTable('rollups')
    .set({ up_to_seq: to })
    .where('name', '=', rollup)
    .where('up_to_seq', '=', from)
    .executeTakeFirst();
  return moved.numUpdatedRows > 0n;
}

/** Finds the last position of the first rows in a range, and their number, which is at most `limit`. */
export function findStep(
  { db }: Transaction,
  rollup: RollupName,
  range: Range,
  limit: number,
): Promise<{ last: number | null; count: number }> {
  const step = db.selectFrom(tableOf(rollup)).select('seq').where(isIn(range)).orderBy('seq').limit(limit);
  return db
    .selectFrom(step.as('step'))
    .select((eb) => [eb.fn.max('step.seq').as('last'), eb.fn.countAll<number>().as('count')])
    .executeTakeFirstOrThrow();
}

/** Deletes the first rows up to a position. Returns how many it deleted. */
export async function deleteFirst(
  { db }: Transaction,
  rollup: RollupName,
  upTo: number,
  limit: number,
): Promise<number> {
  const table = tableOf(rollup);
  const first = db.selectFrom(table).select('seq').where('seq', '<=', upTo).orderBy('seq').limit(limit);
  const { numDeletedRows } = await db
    .deleteFrom(table)
    .where(amongFound(db, 'seq', first))
    .executeTakeFirst();
  return Number(numDeletedRows);
}
