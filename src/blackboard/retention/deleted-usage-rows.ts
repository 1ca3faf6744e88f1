import { sql } from 'kysely';

import { preparedWithList } from '../../database/prepared.js';
import type { Transaction } from '../../database/unit-of-work.js';

/**
 * Deletes the usage of executions. Its sums stay for the agents' budgets until their correlation is deleted. The caller
 * holds locks on the correlations.
 */
export async function deleteUsage(tx: Transaction, executionIds: readonly string[]): Promise<void> {
  await keepSums(tx.db, {}, executionIds);
  await deleteRows(tx.db, {}, executionIds);
  await deleteReservations(tx.db, {}, executionIds);
}

/** Deletes the sums of correlations that are being deleted. */
export const forgetUsage = (tx: Transaction, correlationIds: readonly string[]): Promise<unknown> =>
  deleteSums(tx.db, {}, correlationIds);

const keepSums = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db
    .insertInto('deleted_usage')
    .columns(['correlation_id', 'agent', 'tokens', 'cost'])
    .expression(
      db
        .selectFrom('usage')
        .select(({ fn }) => [
          'correlation_id',
          'agent',
          fn.sum<number>(sql`input_tokens + output_tokens`).as('tokens'),
          fn.coalesce(fn.sum<number>('cost'), sql.lit(0)).as('cost'),
        ])
        .where('execution_id', 'in', ids)
        .groupBy(['correlation_id', 'agent']),
    )
    .onConflict((conflict) =>
      conflict.columns(['correlation_id', 'agent']).doUpdateSet({
        tokens: sql`deleted_usage.tokens + excluded.tokens`,
        cost: sql`deleted_usage.cost + excluded.cost`,
      }),
    ),
);

const deleteRows = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('usage').where('execution_id', 'in', ids),
);

// Reservations remain when an execution's lease was lost.
const deleteReservations = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('budget_reservations').where('execution_id', 'in', ids),
);

const deleteSums = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('deleted_usage').where('correlation_id', 'in', ids),
);
