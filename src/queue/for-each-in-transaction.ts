import type { Transaction, UnitOfWork } from '../database/unit-of-work.js';

/**
 * Calls `work` for each item in a separate transaction. They run in parallel if transactions share group commits,
 * otherwise one after another.
 */
export async function forEachInTransaction<T>(
  unitOfWork: UnitOfWork,
  items: readonly T[],
  work: (tx: Transaction, item: T) => Promise<void>,
): Promise<void> {
  const run = (item: T): Promise<void> => unitOfWork.run((tx) => work(tx, item));
  if (unitOfWork.dialect.exclusive) await Promise.all(items.map(run));
  else for (const item of items) await run(item);
}
