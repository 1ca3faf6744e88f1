import { type Selectable, sql } from 'kysely';

import { prepared } from '../../database/prepared.js';
import type { ProcessesTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';

/** The registration of a process. */
export type ProcessRow = Selectable<ProcessesTable>;

export async function insertProcess({ db }: Transaction, row: ProcessRow): Promise<void> {
  await db.insertInto('processes').values(row).execute();
}

/** Extends a registration that has not expired at `now` (epoch ms). Returns false if it has, or does not exist. */
export async function renewProcess({ db }: Transaction, id: string, now: number, until: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('processes')
    .set({ seen_at: now, seen_until: until })
    .where('id', '=', id)
    .where('seen_until', '>', now)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function deleteProcess({ db }: Transaction, id: string): Promise<void> {
  await db.deleteFrom('processes').where('id', '=', id).execute();
}

/** Deletes the registrations that have expired at `now` (epoch ms). Null deletes all. */
export async function deleteExpiredProcesses({ db }: Transaction, now: number | null): Promise<void> {
  await db
    .deleteFrom('processes')
    .$if(now !== null, (rows) => rows.where('seen_until', '<=', now!))
    .execute();
}

/** Finds the registrations that have not expired at `now` (epoch ms), or all if that is null, oldest first. */
export const findProcesses = (db: Reader, now: number | null): Promise<ProcessRow[]> =>
  db
    .selectFrom('processes')
    .selectAll()
    .$if(now !== null, (rows) => rows.where('seen_until', '>', now!))
    .orderBy('id')
    .execute();

/** The part of a registration that other processes use. */
export type OtherProcess = Pick<
  ProcessRow,
  'id' | 'roles' | 'agents' | 'subscriptions' | 'replay_configurations' | 'max_executions'
>;

/** Finds what the other processes have that have not expired at `now` (epoch ms). */
export const findOthers = (db: Reader, own: string, now: number): Promise<OtherProcess[]> =>
  db
    .selectFrom('processes')
    .select(['id', 'roles', 'agents', 'subscriptions', 'replay_configurations', 'max_executions'])
    .where('seen_until', '>', now)
    .where('id', '<>', own)
    .execute();

/** Whether a process that has not expired at `now` (epoch ms) has another configuration than the one with this digest. */
export const hasOtherConfiguration = (db: Reader, digest: string, now: number): Promise<boolean> =>
  isAnyLive(db, '<>', digest, now);

/** Whether a process that has not expired at `now` (epoch ms) has the configuration with this digest. */
export const isLiveConfiguration = (db: Reader, digest: string, now: number): Promise<boolean> =>
  isAnyLive(db, '=', digest, now);

async function isAnyLive(db: Reader, comparison: '=' | '<>', digest: string, now: number): Promise<boolean> {
  const found = await db
    .selectFrom('processes')
    .select('id')
    .where('seen_until', '>', now)
    .where('configuration', comparison, digest)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/** Finds the registration if it has not expired at `now` (epoch ms). */
export const findLiveProcess = prepared<{ id: string; now: number }, { id: string }>((db, place) =>
  db.selectFrom('processes').select('id').where('id', '=', place('id')).where('seen_until', '>', place('now')),
);

/** Whether an execution runs that another process has started and that was not taken over since. */
export async function doOthersRun(db: Reader, own: string): Promise<boolean> {
  const found = await db
    .selectFrom('executions')
    .select('id')
    .where('state', '=', sql.lit('running' as const))
    .where('lease_owner', '<>', own)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}
