import type { Kysely } from 'kysely';

import type { Schema } from '../../database/schema.js';
import type { Transaction } from '../../database/unit-of-work.js';

/** Returns the keys of the first `most` answers that expired at or before `now` (epoch ms). */
export async function findExpiredAnswers(db: Kysely<Schema>, now: number, most: number): Promise<string[]> {
  const rows = await db
    .selectFrom('cached_answers')
    .select('key')
    .where('expires_at', '<=', now)
    .orderBy('expires_at')
    .limit(most)
    .execute();
  return rows.map(({ key }) => key);
}

/** Deletes the answers with these keys, except those that were renewed since they were found. Returns how many it deleted. */
export async function deleteExpiredAnswers(tx: Transaction, now: number, keys: readonly string[]): Promise<number> {
  const { numDeletedRows } = await tx.db
    .deleteFrom('cached_answers')
    .where('key', 'in', keys)
    .where('expires_at', '<=', now)
    .executeTakeFirstOrThrow();
  return Number(numDeletedRows);
}
