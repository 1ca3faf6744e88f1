import type { Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { type CompletedExecutionRow, insertCompleted } from './queued-execution-rows.js';

const unstored = new WeakMap<CorrelationChanges, CompletedExecutionRow[]>();

/**
 * Stores the row of an execution that ends in the transaction that adds it, at the latest when the changes are saved. Such rows are
 * inserted together, because a statement on Postgres takes much longer than each of its rows.
 */
export function storeCompleted(tx: Transaction, changes: CorrelationChanges, row: CompletedExecutionRow): void {
  let rows = unstored.get(changes);
  if (!rows) {
    unstored.set(changes, (rows = []));
    changes.beforeSave(() => completedAreStored(tx, changes));
  }
  rows.push(row);
}

/** Inserts the rows that are not stored yet. Call it before a query that must find them. */
export async function completedAreStored(tx: Transaction, changes: CorrelationChanges): Promise<void> {
  await insertCompleted(tx.db, unstored.get(changes)?.splice(0) ?? []);
}
