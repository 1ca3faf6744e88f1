import { expressionBuilder, sql } from 'kysely';
import type { Schema } from '../../database/schema.js';
import type { Transaction } from '../../database/unit-of-work.js';

/** What is folded, as `folds` calls it: by the table whose rows are added up. */
export type Fold = 'artifacts' | 'activity';

/** In a query: the position up to which a fold has come. */
export function foldedUpTo(fold: Fold) {
  const eb = expressionBuilder<Schema, never>();
  return eb.fn.coalesce(eb.selectFrom('folds').select('folds.up_to_seq').where('folds.name', '=', fold), sql.lit(0));
}

export async function positionOf(tx: Transaction, fold: Fold): Promise<number> {
  const row = await tx.db.selectFrom('folds').select('up_to_seq').where('name', '=', fold).executeTakeFirst();
  if (row) return row.up_to_seq;
  await tx.db
    .insertInto('folds')
    .values({ name: fold, up_to_seq: 0 })
    .onConflict((conflict) => conflict.doNothing())
    .execute();
  return 0;
}

/** Only one of several processes can move on from the same place; false for the others, who leave the step to it. */
export async function moveOn(tx: Transaction, fold: Fold, { from, to }: { from: number; to: number }): Promise<boolean> {
  const moved = await tx.db.updateTable('folds').set({ up_to_seq: to }).where('name', '=', fold).where('up_to_seq', '=', from).executeTakeFirst();
  return moved.numUpdatedRows > 0n;
}
