import { type Kysely, type RawBuilder, sql } from 'kysely';

import { dialectOf, locking } from '../database/dialects/dialect.js';
import { preparedWithList } from '../database/prepared.js';
import type { Schema } from '../database/schema.js';
import type { Reader, Transaction, UnitOfWork } from '../database/unit-of-work.js';
import { changeState } from './change-state.js';
import { isLostIn } from './lease.js';
import { NEVER, type Queue, type QueuedRow } from './queue.js';
import { isInState } from './state-predicate.js';

/** The columns of a row with a lease that is no longer renewed. */
export interface LostLease {
  lease_token: string;
  lease_owner: string | null;
  lost_leases: number;
}

/** The columns of a row without a lease. */
export const NO_LEASE = { lease_token: null, lease_owner: null, lease_until: null } as const;

interface Taken {
  leaseToken: string;
  owner: string | null;
  until: number;
  now: number;
}

/** Finds and locks those of the rows that may be claimed and that no other transaction has locked. */
export function lockingReady(db: Kysely<Schema>, table: Queue<QueuedRow>['table'], ids: readonly RawBuilder<string>[]) {
  const ready = db
    .selectFrom(table)
    .select('id')
    .where('id', 'in', ids)
    .where(isInState('pending'))
    .where('available_at', 'is', null);
  return locking(db, ready, { wait: false });
}

/**
 * Makes a query that leases those rows of a table that are ready. It leaves out rows that have ended since they were
 * found, and rows that another transaction has locked.
 */
export const takingLeases = ({ table }: Queue<QueuedRow>) =>
  preparedWithList<Taken, string, { id: string }>((db, place, ids) =>
    changeState(db, table, ['pending'], 'running')
      .set(({ fn, ref }) => ({
        lease_token: place('leaseToken'),
        claim: dialectOf(db).nextClaim,
        lease_owner: place('owner'),
        lease_until: place('until'),
        // The start of the first attempt: later attempts keep it.
        started_at: fn.coalesce(ref('started_at'), place('now')),
        attempt_started_at: place('now'),
      }))
      .where('id', 'in', lockingReady(db, table, ids))
      .returning('id'),
  );

/**
 * Renews the leases of those of the rows that the owner holds, until that time (epoch ms). `wait: false` leaves out rows
 * that another transaction has locked. Returns the ids of those that it has renewed.
 */
export async function renewLeases(
  { db }: Transaction,
  queue: Queue<QueuedRow>,
  { owner, until }: { owner: string; until: number },
  ids: readonly string[],
  { wait }: { wait: boolean },
): Promise<string[]> {
  const rows = await db
    .updateTable(queue.table)
    .set({ lease_until: until })
    .where('id', 'in', locking(db, heldBy(db, queue, owner, ids), { wait }))
    .returning('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns those of the rows that the owner holds. */
export async function findHeld(
  db: Reader,
  queue: Queue<QueuedRow>,
  owner: string,
  ids: readonly string[],
): Promise<string[]> {
  return (await heldBy(db, queue, owner, ids).execute()).map(({ id }) => id);
}

const heldBy = (db: Reader, { table }: Queue<QueuedRow>, owner: string, ids: readonly string[]) =>
  db.selectFrom(table).select('id').where(isInState('running')).where('lease_owner', '=', owner).where('id', 'in', ids);

/** Ends the leases of an owner, except those of the rows `kept`. Returns the queue of each row. */
export async function endLeases(
  { db }: Transaction,
  { table, name }: Queue<QueuedRow>,
  owner: string,
  kept: readonly string[],
): Promise<string[]> {
  const rows = await changeState(db, table, ['running'], 'pending')
    .set({ ...NO_LEASE, available_at: null })
    // Finds them by the partial index.
    .where('state', '=', sql.lit('running' as const))
    .where('lease_owner', '=', owner)
    .$if(kept.length > 0, (held) => held.where('id', 'not in', kept))
    .returning(`${name} as queue`)
    .execute();
  return rows.map(({ queue }) => queue);
}

export interface LostLeases {
  /** The process that looks for them. It may hold some itself. */
  own: string;
  /** Epoch ms. */
  now: number;
  /** A lease of the process itself is lost if it ended before this time (epoch ms), which is earlier than `now`. */
  ownBefore: number;
  /** Leases without an owner in these queues are left out. */
  leftToOthers: readonly string[];
  /** Only leases without an owner. */
  unowned: boolean;
  limit: number;
}

/** Finds and locks rows with lost leases, without those that another transaction has locked. */
export function findLostLeases<Row extends QueuedRow>(
  unitOfWork: UnitOfWork,
  { db }: Transaction,
  queue: Queue<Row>,
  { own, now, ownBefore, leftToOthers, unowned, limit }: LostLeases,
): Promise<(Row & LostLease)[]> {
  const lost = queue
    .select(db)
    .select(['lease_token', 'lease_owner', 'lost_leases'])
    .where('state', '=', sql.lit('running' as const))
    .where(isLostIn(['lease_owner', 'lease_until'], own, now, unitOfWork))
    .where(({ eb, or }) =>
      or([eb('lease_owner', 'is', null), eb('lease_owner', '<>', own), eb('lease_until', '<', ownBefore)]),
    )
    .$if(unowned, (some) => some.where('lease_owner', 'is', null))
    .$if(leftToOthers.length > 0, (some) =>
      some.where(({ eb, or }) => or([eb('lease_owner', 'is not', null), eb(queue.name, 'not in', leftToOthers)])),
    )
    .limit(limit);
  return locking(db, lost, { wait: false }).$castTo<Row & LostLease>().execute();
}

/** Ends a lost lease, so that the row waits again, and stores how many the row has lost. */
export async function endLostLease(
  { db }: Transaction,
  { table }: Queue<QueuedRow>,
  lost: Pick<QueuedRow, 'id'> & LostLease,
): Promise<void> {
  await changeState(db, table, ['running'], 'pending')
    .set({ ...NO_LEASE, available_at: null, lost_leases: lost.lost_leases })
    .where('id', '=', lost.id)
    .where('lease_token', '=', lost.lease_token)
    .execute();
}

/** Replaces a lost lease, and stores how many the row has lost. */
export async function replaceLostLease(
  { db }: Transaction,
  { table }: Queue<QueuedRow>,
  lost: Pick<QueuedRow, 'id'> & LostLease,
  lease: { lease_token: string; lease_owner: string | null; lease_until: number },
): Promise<void> {
  await db
    .updateTable(table)
    .set({ ...lease, lost_leases: lost.lost_leases })
    .where('id', '=', lost.id)
    .where('lease_token', '=', lost.lease_token)
    .execute();
}

/** Makes retries that are due at `now` (epoch ms) claimable. Returns the queue of each. */
export async function releaseDueRetries(
  { db }: Transaction,
  { table, name }: Queue<QueuedRow>,
  now: number,
): Promise<string[]> {
  const rows = await db
    .updateTable(table)
    .set({ available_at: null })
    .where('state', '=', sql.lit('pending' as const))
    .where('available_at', 'is not', null)
    .where('available_at', '<=', now)
    .returning(`${name} as queue`)
    .execute();
  return rows.map(({ queue }) => queue);
}

/** Returns when the next retry is due (epoch ms), or null if none waits. */
export async function findNextRetry(db: Reader, { table }: Queue<QueuedRow>): Promise<number | null> {
  const row = await db
    .selectFrom(table)
    .select('available_at')
    .where('state', '=', sql.lit('pending' as const))
    .where('available_at', 'is not', null)
    .where('available_at', '<', NEVER)
    .orderBy('available_at')
    .limit(1)
    .executeTakeFirst();
  return row?.available_at ?? null;
}
