import { type RawBuilder, sql, type SqlBool } from 'kysely';

import type { UnitOfWork } from '../database/unit-of-work.js';

/**
 * The right to end the work on a row: the process that has it, and its end (epoch ms). `owner` is null if a worker
 * outside of Starling has it, because such a lease outlives processes.
 *
 * Rows of queues, imports of batches and reserved idempotency keys have leases, and these rules are the same for all.
 * What follows when one is lost differs: another process repeats the work of a queue's row (RowLeases), deletes the rows
 * of an import, which its client has to send again (ImportsRepository), and waits for the next request with an
 * idempotency key, which then does the work with the same ids (KeyReservations).
 */
export interface Lease {
  owner: string | null;
  until: number;
}

type Sharing = Pick<UnitOfWork, 'isShared'>;

/**
 * Whether a lease that the process `own` does not hold is lost at `now` (epoch ms). In a database that no other process
 * uses, every other owner has ended.
 */
export const isLost = ({ owner, until }: Lease, own: string, now: number, { isShared }: Sharing): boolean =>
  until < now || (!isShared && owner !== null && owner !== own);

/** `isLost` as the condition of a query, with the names of the two columns of the lease. */
export function isLostIn(
  [owner, until]: readonly [owner: string, until: string],
  own: string,
  now: number,
  { isShared }: Sharing,
): RawBuilder<SqlBool> {
  const isExpired = sql<SqlBool>`${sql.ref(until)} < ${now}`;
  return isShared ? isExpired : sql<SqlBool>`(${isExpired} or ${sql.ref(owner)} <> ${own})`;
}
