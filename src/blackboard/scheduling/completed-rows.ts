import type { Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { type CompletedExecutionRow, insertCompleted, insertInputs } from './queued-execution-rows.js';

interface Completed {
  row: CompletedExecutionRow;
  /** The positions of its inputs. */
  inputs: readonly number[];
}

const unstored = new WeakMap<CorrelationChanges, Completed[]>();

/**
 * Stores an execution that ends in the transaction that adds it, at the latest when the changes are saved. Such executions are
 * inserted together, because a statement on Postgres takes much longer than each of its rows.
 */
export function storeCompleted(tx: Transaction, changes: CorrelationChanges, completed: Completed): void {
  let all = unstored.get(changes);
  if (!all) {
    unstored.set(changes, (all = []));
    changes.beforeSave(() => completedAreStored(tx, changes));
  }
  all.push(completed);
}

/** Inserts the executions that are not stored yet. Call it before a query that must find them. */
export async function completedAreStored({ db }: Transaction, changes: CorrelationChanges): Promise<void> {
  const all = unstored.get(changes)?.splice(0) ?? [];
  await insertCompleted(
    db,
    all.map(({ row }) => row),
  );
  await insertInputs(
    db,
    all.map(({ row: { id }, inputs }) => ({ id, inputs })),
  );
}
