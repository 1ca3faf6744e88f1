import type { Selectable, SelectQueryBuilder } from 'kysely';

import { prepared, preparedInsert, preparedWithList } from '../../database/prepared.js';
import type { JoinGroupsTable, Schema, TimersTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { isAmong, type SubscriptionPlace } from '../matching/subscription-rows.js';
import type { KnownWork } from '../processes/known-work.js';

export type Timer = Selectable<TimersTable>;

/**
 * `due_at` of a timer that waits for a process with its agent, subscription or configuration. The time never comes, so
 * looking for due timers does not read it.
 */
const PARKED_AT = Number.MAX_SAFE_INTEGER;

export const insertTimers = preparedInsert('timers', ['id', 'kind', 'due_at', 'subject', 'correlation_id']);

export const deleteTimer = prepared<Pick<Timer, 'kind' | 'subject'>, unknown>((db, place) =>
  db.deleteFrom('timers').where('subject', '=', place('subject')).where('kind', '=', place('kind')),
);

/** Deletes the `due` timers of these executions. */
export const deleteDueTimers = preparedWithList<object, string, unknown>((db, _place, executionIds) =>
  db.deleteFrom('timers').where('subject', 'in', executionIds).where('kind', '=', 'due'),
);

/** Deletes a timer that fires. Returns false if another transaction has deleted it before. */
export async function deleteFiredTimer({ db }: Transaction, { id }: Timer): Promise<boolean> {
  const { numDeletedRows } = await db.deleteFrom('timers').where('id', '=', id).executeTakeFirst();
  return numDeletedRows > 0n;
}

/** Deletes the `release` timers of a correlation's artifacts. Returns how many it deleted. */
export async function deleteReleases({ db }: Transaction, correlationId: string): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('timers')
    .where('correlation_id', '=', correlationId)
    .where('kind', '=', 'release')
    .executeTakeFirst();
  return Number(numDeletedRows);
}

export async function countReleases(db: Reader): Promise<number> {
  const { count } = await db
    .selectFrom('timers')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('kind', '=', 'release')
    .executeTakeFirstOrThrow();
  return count;
}

/** Finds due timers in order of time, without those whose agent, subscription or configuration only other processes have. */
export const findDueTimers = (db: Reader, now: number, limit: number, known: KnownWork): Promise<Timer[]> =>
  firedHere(known, db.selectFrom('timers').selectAll().where('due_at', '<=', now))
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit)
    .execute();

/** Returns when the next of these timers is due (epoch ms); null if none is set. */
export async function findNextDueTime(db: Reader, known: KnownWork): Promise<number | null> {
  const set = db.selectFrom('timers').select('due_at').where('due_at', '<', PARKED_AT);
  const row = await firedHere(known, set).orderBy('due_at').limit(1).executeTakeFirst();
  return row?.due_at ?? null;
}

/**
 * Postpones a timer that could not be fired until `at` (epoch ms). Returns false if another transaction has deleted or
 * postponed it before.
 */
export async function postponeTimer({ db }: Transaction, { id, due_at }: Timer, at: number): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('timers')
    .set(({ eb, fn, ref }) => ({
      due_at: at,
      was_due_at: fn.coalesce('was_due_at', ref('due_at')),
      failures: eb('failures', '+', 1),
    }))
    .where('id', '=', id)
    .where('due_at', '=', due_at)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

export async function parkTimer({ db }: Transaction, { id, due_at, was_due_at }: Timer): Promise<void> {
  await db
    .updateTable('timers')
    .set({ due_at: PARKED_AT, was_due_at: was_due_at ?? due_at })
    .where('id', '=', id)
    .where('due_at', '=', due_at)
    .execute();
}

/** Finds the groups of these subscriptions whose timers are parked, with the ids of the timers. */
export const findParkedGroups = (
  { db }: Transaction,
  places: readonly SubscriptionPlace[],
  limit: number,
): Promise<(Selectable<JoinGroupsTable> & { timer: string })[]> =>
  db
    .selectFrom('timers')
    .innerJoin('join_groups', 'join_groups.id', 'timers.subject')
    .selectAll('join_groups')
    .select('timers.id as timer')
    .where('timers.due_at', '=', PARKED_AT)
    .where(isAmong(places))
    .limit(limit)
    .execute();

/**
 * Makes a parked timer due at `at` (epoch ms), or at its earlier time if that is null. Returns false if another
 * transaction has done so before.
 */
export async function wakeTimer({ db }: Transaction, id: string, at: number | null): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('timers')
    .set(({ ref }) => ({ due_at: at ?? ref('was_due_at').$notNull(), was_due_at: at }))
    .where('id', '=', id)
    .where('due_at', '=', PARKED_AT)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Makes the parked timers of these agents' executions due at their earlier times. `configurations`: those for replays that
 * this process has. An answer from the record of another one stays parked.
 */
export async function wakeExecutionTimers(
  { db }: Transaction,
  agents: readonly string[],
  configurations: readonly string[],
): Promise<void> {
  await db
    .updateTable('timers')
    .set(({ ref }) => ({ due_at: ref('was_due_at').$notNull() }))
    .where('due_at', '=', PARKED_AT)
    .where('kind', 'in', ['due', 'limits', 'answer'])
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('executions')
          .select('executions.id')
          .whereRef('executions.id', '=', 'timers.subject')
          .where('executions.agent', 'in', agents)
          .where(({ or, eb }) =>
            or([
              eb('timers.kind', '<>', 'answer'),
              eb('executions.configuration', 'is', null),
              ...(configurations.length > 0 ? [eb('executions.configuration', 'in', configurations)] : []),
            ]),
          ),
      ),
    )
    .execute();
}

type Timers<Row> = SelectQueryBuilder<Schema, 'timers', Row>;

function firedHere<Row>(
  { agentsElsewhere, subscriptionsElsewhere, configurationsElsewhere }: KnownWork,
  timers: Timers<Row>,
): Timers<Row> {
  let fired = timers;
  if (agentsElsewhere.length > 0) fired = withoutAgents(fired, agentsElsewhere);
  if (subscriptionsElsewhere.length > 0) fired = withoutSubscriptions(fired, subscriptionsElsewhere);
  if (configurationsElsewhere.length > 0) fired = withoutConfigurations(fired, configurationsElsewhere);
  return fired;
}

/** Only an answer from the record needs the configuration of a replay. */
const withoutConfigurations = <Row>(timers: Timers<Row>, configurations: readonly string[]): Timers<Row> =>
  timers.where(({ not, and, eb, exists, selectFrom }) =>
    not(
      and([
        eb('timers.kind', '=', 'answer'),
        exists(
          selectFrom('executions')
            .select('executions.id')
            .whereRef('executions.id', '=', 'timers.subject')
            .where('executions.configuration', 'in', configurations),
        ),
      ]),
    ),
  );

const withoutAgents = <Row>(timers: Timers<Row>, agents: readonly string[]): Timers<Row> =>
  timers
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('join_groups')
            .select('join_groups.id')
            .whereRef('join_groups.id', '=', 'timers.subject')
            .where('join_groups.agent', 'in', agents),
        ),
      ),
    )
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('executions')
            .select('executions.id')
            .whereRef('executions.id', '=', 'timers.subject')
            .where('executions.agent', 'in', agents),
        ),
      ),
    );

const withoutSubscriptions = <Row>(timers: Timers<Row>, places: readonly SubscriptionPlace[]): Timers<Row> =>
  timers.where(({ not, exists, selectFrom }) =>
    not(
      exists(
        selectFrom('join_groups')
          .select('join_groups.id')
          .whereRef('join_groups.id', '=', 'timers.subject')
          .where(isAmong(places)),
      ),
    ),
  );
