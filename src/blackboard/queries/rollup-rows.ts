import { expressionBuilder, sql } from 'kysely';

import type { Schema } from '../../database/schema.js';
import type { Transaction } from '../../database/unit-of-work.js';

/** The name of a rollup in the table `rollups`: the table whose rows it adds up. */
export type RollupName = 'artifacts' | 'activity' | 'failure_changes';

/** A subquery for the position up to which a rollup is complete. */
export function rolledUpTo(rollup: RollupName) {
  const eb = expressionBuilder<Schema, never>();
  return eb.fn.coalesce(
    eb.selectFrom('rollups').select('rollups.up_to_seq').where('rollups.name', '=', rollup),
    sql.lit(0),
  );
}

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
export async function moveOn(
  tx: Transaction,
  rollup: RollupName,
  { from, to }: { from: number; to: number },
): Promise<boolean> {
  const moved = await tx.db
    .updateTable('rollups')
    .set({ up_to_seq: to })
    .where('name', '=', rollup)
    .where('up_to_seq', '=', from)
    .executeTakeFirst();
  return moved.numUpdatedRows > 0n;
}
