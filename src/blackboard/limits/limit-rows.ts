import { type RawBuilder, sql, type SqlBool } from 'kysely';

import type { Rate } from '../../catalog/limits.js';
import { prepared, preparedInsert, preparedWithList } from '../../database/prepared.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { lockingReady } from '../../queue/leased-rows.js';
import { burstLength, unitLength } from './gcra.js';
import { type KeptPlace, REST_MS } from './kept-places.js';

export interface RunningRow {
  id: string;
  agent: string;
  lease_owner: string | null;
  lease_token: string | null;
  deferred_lease: string | null;
  attempt_started_at: number | null;
  limit_keys: string;
  priority: number;
  background: number;
  seq: number;
}

/** Finds what runs and takes part in limits. The sole truth about what concurrency is used. */
export const findRunning = prepared<object, RunningRow>((db) =>
  db
    .selectFrom('executions')
    .select(['id', 'agent', 'lease_owner', 'lease_token', 'deferred_lease', 'attempt_started_at', 'limit_keys'])
    .select(['priority', 'background', 'seq'])
    // A literal, because the database does not use a partial index if the state is a parameter.
    .where('state', '=', sql.lit('running' as const))
    .where('limit_keys', 'is not', null)
    .$narrowType<{ limit_keys: string }>(),
);

export interface HoldingRow {
  id: string;
  held_keys: string;
  limit_keys: string | null;
}

/** Finds what has not ended and holds limits until then, whether it runs or waits. */
export const findHolding = prepared<object, HoldingRow>((db) =>
  db
    .selectFrom('executions')
    .select(['id', 'held_keys', 'limit_keys'])
    .where('held_keys', 'is not', null)
    .where('ended_at', 'is', null)
    .$narrowType<{ held_keys: string }>(),
);

/** Finds the different values of `held_keys` of executions that have not ended. */
export const findHeldKeys = (db: Reader): Promise<Pick<HoldingRow, 'held_keys'>[]> =>
  db
    .selectFrom('executions')
    .select('held_keys')
    .distinct()
    .where('held_keys', 'is not', null)
    .where('ended_at', 'is', null)
    .$narrowType<{ held_keys: string }>()
    .execute();

export async function replaceHeldKeys(
  { db }: Transaction,
  { heldKeys, kept }: { heldKeys: string; kept: string | null },
): Promise<void> {
  await db
    .updateTable('executions')
    .set({ held_keys: kept })
    .where('held_keys', '=', heldKeys)
    .where('held_keys', 'is not', null)
    .where('ended_at', 'is', null)
    .execute();
}

/** Stores what ready executions hold from now on. Returns those that were ready and not locked. */
export const setHeldKeys = preparedWithList<{ heldKeys: string }, string, { id: string }>((db, place, ids) =>
  db
    .updateTable('executions')
    .set({ held_keys: place('heldKeys') })
    .where('id', 'in', lockingReady(db, 'executions', ids))
    .returning('id'),
);

/** Finds those of these keys whose turn an execution of the agent has. */
export const findTurns = preparedWithList<{ agent: string }, string, { singleton_key: string }>((db, place, keys) =>
  db
    .selectFrom('executions')
    .select('singleton_key')
    .where('agent', '=', place('agent'))
    // Without `is not null`, for which SQLite would read all keys of the agent.
    .where('singleton_key', 'in', keys)
    // A literal, because the database does not use a partial index if the value is a parameter.
    .where('singleton_waits', '=', sql.lit(0))
    .where('ended_at', 'is', null)
    .$narrowType<{ singleton_key: string }>(),
);

export interface RateRow {
  /** `keyText` */
  limit_key: string;
  /** See gcra.ts. */
  used_until: number;
  /** The length of the burst with which it was used last, in ms. Null if that is not known. */
  burst_ms: number | null;
  /** The length of a unit at the rate with which it was used last, in ms. Null if that is not known. */
  unit_ms: number | null;
}

/** A row with what is kept of the limit. */
export interface StoredRateRow extends RateRow {
  kept_for: string | null;
  kept_until: number | null;
}

export const findRates = preparedWithList<object, string, StoredRateRow>((db, _place, keys) =>
  db.selectFrom('limit_rates').selectAll().where('limit_key', 'in', keys),
);

export const setRates = preparedInsert('limit_rates', ['limit_key', 'used_until', 'burst_ms', 'unit_ms'], {
  replaceBy: 'limit_key',
});

export async function keepPlaces({ db }: Transaction, places: readonly KeptPlace[]): Promise<void> {
  for (const place of places)
    await db
      .insertInto('limit_rates')
      .values({ ...place, used_until: 0 })
      .onConflict((conflict) =>
        conflict.column('limit_key').doUpdateSet({ kept_for: place.kept_for, kept_until: place.kept_until }),
      )
      .execute();
}

/** The execution has started, and needs no place any more. */
export async function forgetPlaces({ db }: Transaction, id: string, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  await db
    .updateTable('limit_rates')
    .set({ kept_for: null, kept_until: null })
    .where('limit_key', 'in', keys)
    .where('kept_for', '=', id)
    .execute();
}

/** Whether the units of the row that still count last for another time than at this rate. */
export const isOfAnotherRate = ({ used_until, unit_ms }: RateRow, rate: Rate, now: number): boolean =>
  unit_ms !== null && unit_ms !== unitLength(rate) && used_until > now;

/**
 * Gives the units that have started at other rates the length of this one, so that a limit with another rate forgets none of
 * them, and is shut for at most its burst.
 */
export async function stretchRates({ db }: Transaction, limit: string, rate: Rate, now: number): Promise<void> {
  const unitMs = unitLength(rate);
  const burstMs = burstLength(rate);
  const ahead = sql<number>`(used_until - ${now}) * ${unitMs} / unit_ms`;
  await db
    .updateTable('limit_rates')
    .set({
      used_until: sql<number>`${now} + case when ${ahead} > ${burstMs} then ${burstMs} else ${ahead} end`,
      burst_ms: burstMs,
      unit_ms: unitMs,
    })
    .where(isOf(limit))
    .where('used_until', '>', now)
    .where('unit_ms', '<>', unitMs)
    .execute();
}

/** Forgets what a limit has used of its rate. */
export async function deleteRates({ db }: Transaction, limit: string): Promise<void> {
  await db.deleteFrom('limit_rates').where(isOf(limit)).execute();
}

/** Compares each row, because the order of texts depends on the database. Only a change of a limit asks this. */
function isOf(limit: string): RawBuilder<SqlBool> {
  const start = `${JSON.stringify([limit]).slice(0, -1)},`;
  return sql<SqlBool>`substr(limit_key, 1, ${[...start].length}) = ${start}`;
}

/** Deletes what rates have used, and places that were kept, so long ago that it no longer counts. */
export async function deleteUnusedRates({ db }: Transaction, now: number): Promise<void> {
  await db
    .deleteFrom('limit_rates')
    .where('used_until', '<=', now)
    .where(({ eb, or }) => or([eb('kept_until', 'is', null), eb('kept_until', '<=', now - REST_MS)]))
    .execute();
}
