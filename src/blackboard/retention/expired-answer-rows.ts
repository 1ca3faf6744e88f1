import type { Transaction } from '../../database/unit-of-work.js';

/** Deletes the first `most` answers that expired at or before `now` (epoch ms). Returns how many there were. */
export async function deleteExpiredAnswers(tx: Transaction, now: number, most: number): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('cached_answers')
    .where('key', 'in', (eb) =>
      eb.selectFrom('cached_answers').select('key').where('expires_at', '<=', now).orderBy('expires_at').limit(most),
    )
    // Since the rows were read, a new answer may have the key of one.
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
