import type { Transaction, UnitOfWork } from '../database/unit-of-work.js';

/** Does `work` with each item in a transaction of its own: all at once where these share their commits, else one after another. */
export async function forEachInTransaction<T>(unitOfWork: UnitOfWork, items: readonly T[], work: (tx: Transaction, item: T) => Promise<void>): Promise<void> {
  const run = (item: T): Promise<void> => unitOfWork.run((tx) => work(tx, item));
  if (unitOfWork.dialect.exclusive) await Promise.all(items.map(run));
  else for (const item of items) await run(item);
}
