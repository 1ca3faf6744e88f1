import { type Kysely, type RawBuilder, type Selectable, sql } from 'kysely';

import { locking } from '../../database/dialects/dialect.js';
import { memoize, places, prepared, preparedInsert, preparedWithList } from '../../database/prepared.js';
import type { ExecutionsTable, Schema } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { changeState } from '../../queue/change-state.js';
import { NO_LEASE } from '../../queue/leased-rows.js';
import { NEVER } from '../../queue/queue.js';
import { isInState } from '../../queue/state-predicate.js';
import { NOT_REPLAYED, RUN, UNANSWERED } from '../correlations/replay-values.js';
import type { CorrelationRow } from '../correlations/tracked-correlation.js';

export type StoredExecution = Selectable<ExecutionsTable>;

/** Counts the agent's running executions. */
export const countRunning = prepared<{ agent: string }, { count: number }>((db, place) =>
  db
    .selectFrom('executions')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('state', '=', sql.lit('running' as const))
    .where('agent', '=', place('agent')),
);

interface Running {
  id: string;
  agent: string;
  claim: number;
}

/** An agent, and the number of a claim. */
export type AgentClaim = Pick<Running, 'agent' | 'claim'>;

/** Finds those of these executions that still run. */
export const findStillRunning = preparedWithList<object, string, { id: string }>((db, _place, ids) =>
  db.selectFrom('executions').select('id').where('id', 'in', ids).where(isInState('running')),
);

/** Finds the running executions of each of these agents with a later claim than `claim`. */
export async function findClaimedSince(db: Reader, since: readonly AgentClaim[]): Promise<Running[]> {
  if (since.length === 0) return [];
  const values = since.flatMap(({ agent, claim }, index) => [
    [`agent${index}`, agent],
    [`claim${index}`, claim],
  ]);
  return claimedSince(since.length)(db, Object.fromEntries(values) as AgentClaims);
}

type AgentClaims = Record<`agent${number}`, string> & Record<`claim${number}`, number>;

const claimedSince = memoize((count: number) =>
  prepared<AgentClaims, Running>((db, place) => {
    const parts = Array.from({ length: count }, (_, index) =>
      db
        .selectFrom('executions')
        .select(['id', 'agent', 'claim'])
        .where('state', '=', sql.lit('running' as const))
        .where('agent', '=', place(`agent${index}`))
        .where('claim', '>', place(`claim${index}`))
        .$narrowType<{ claim: number }>(),
    );
    return parts.reduce((all, part) => all.unionAll(part));
  }),
);

const OPEN_COLUMNS = [
  'id',
  'agent',
  'configuration',
  'state',
  'lease_owner',
  'due_at',
  'singleton_key',
  'held_keys',
  'limit_keys',
] as const;

export type OpenExecution = Pick<StoredExecution, (typeof OPEN_COLUMNS)[number]>;

/**
 * Finds the executions of a correlation that have not ended. Locks the rows: an execution that changed its state between this query and the update would be counted wrongly.
 */
export function holdOpen(tx: Transaction, correlationId: string): Promise<OpenExecution[]> {
  const open = tx.db
    .selectFrom('executions')
    .select(OPEN_COLUMNS)
    .where('correlation_id', '=', correlationId)
    .where('state', 'in', ['pending', 'running'])
    .orderBy('id');
  return locking(tx.db, open, { wait: true }).execute();
}

const cancelling = (db: Kysely<Schema>, now: RawBuilder<number>) =>
  changeState(db, 'executions', ['pending', 'running'], 'cancelled')
    .set({ ...NO_LEASE, ended_at: now, available_at: null, blocked_on: null })
    // Kept for an attempt that is cancelled while it runs; an execution that waits has no current attempt.
    .set(({ eb }) => ({
      attempt_started_at: eb.case().when('state', '=', 'running').then(eb.ref('attempt_started_at')).end(),
    }));

/** Cancels the executions of a correlation that have not ended. */
export const endOpen = prepared<{ correlationId: string; now: number }, unknown>((db, place) =>
  cancelling(db, place('now')).where('correlation_id', '=', place('correlationId')),
);

/** Finds those of these executions that have not ended. Locks them in the order of their ids. */
export function holdOpenAmong(
  tx: Transaction,
  ids: readonly string[],
): Promise<(OpenExecution & Pick<StoredExecution, 'correlation_id'>)[]> {
  const open = tx.db
    .selectFrom('executions')
    .select([...OPEN_COLUMNS, 'correlation_id'])
    .where('id', 'in', ids)
    .where('ended_at', 'is', null)
    .orderBy('id');
  return locking(tx.db, open, { wait: true }).execute();
}

/** The artifact, or the other execution with the same key, for which executions are cancelled one by one. */
export type WhyCancelled = Pick<StoredExecution, 'cancelled_by' | 'skipped_for'>;

/** Cancels these executions, which have not ended and are locked. */
export const endAmong = preparedWithList<{ now: number } & WhyCancelled, string, unknown>((db, place, ids) =>
  cancelling(db, place('now'))
    .set(places(place, ['cancelled_by', 'skipped_for']))
    .where('id', 'in', ids),
);

export async function findCorrelationOf({ db }: Transaction, id: string): Promise<string | undefined> {
  const row = await db.selectFrom('executions').select('correlation_id').where('id', '=', id).executeTakeFirst();
  return row?.correlation_id;
}

/**
 * The fields that decide whether a failed execution can be retried. `closed` (1 if it is), `replay_mode` and
 * `replay_options` are those of its correlation.
 */
export type RetriedExecution = Pick<StoredExecution, 'id' | 'agent' | 'correlation_id' | 'replay'> &
  Pick<CorrelationRow, 'closed' | 'replay_mode' | 'replay_options'>;

/** Finds those of the executions that failed at or before `until` (epoch ms). */
export const findFailedAmong = (
  { db }: Transaction,
  ids: readonly string[],
  until: number,
): Promise<RetriedExecution[]> =>
  db
    .selectFrom('executions')
    .innerJoin('correlations', 'correlations.id', 'executions.correlation_id')
    .select(['executions.id', 'agent', 'correlation_id', 'executions.replay', 'closed', 'replay_mode'])
    .select('replay_options')
    .where('executions.id', 'in', ids)
    .where(sql<boolean>`coalesce(executions.state, '') = 'failed'`)
    .where('ended_at', '<=', until)
    .orderBy('executions.id')
    .execute();

export const holdExecution = (tx: Transaction, id: string): Promise<StoredExecution> =>
  locking(tx.db, tx.db.selectFrom('executions').selectAll().where('id', '=', id), {
    wait: true,
  }).executeTakeFirstOrThrow();

/** Queues a failed execution again, with its first attempt. */
export async function beginRound(
  tx: Transaction,
  { id, round, failure_group }: Pick<StoredExecution, 'id' | 'round' | 'failure_group'>,
  begun: Pick<
    StoredExecution,
    'generation' | 'assignee' | 'due_at' | 'available_at' | 'blocked_on' | 'singleton_waits'
  >,
): Promise<void> {
  const again = {
    ...begun,
    escalated_at: null,
    round: round + 1,
    held_keys: null,
    attempt: 1,
    lost_leases: 0,
    attempt_started_at: null,
    failure_group: null,
    error_type: null,
    error_message: null,
    error_cause: null,
    error_stack: null,
    definition: null,
    variant: null,
  } as const;
  // An execution that an older version failed during an upgrade has no group.
  if (failure_group !== null) await insertRetried(tx.db, [{ failure_group, change: -1 }]);
  await changeState(tx.db, 'executions', ['failed'], 'pending')
    .set({ ended_at: null, ...again, ...(begun.assignee !== null && { fair_key: null }) })
    .set(({ eb, lit }) => ({
      replay: eb.case().when('replay', '>', NOT_REPLAYED).then(lit(RUN)).else(lit(NOT_REPLAYED)).end(),
    }))
    .where('id', '=', id)
    .execute();
}

const insertRetried = preparedInsert('failure_changes', ['failure_group', 'change']);

/** Lets claimed executions of a replay wait for an answer from the record. Nothing may claim them again. */
export async function leaveToRecord({ db }: Transaction, ids: readonly string[]): Promise<void> {
  await changeState(db, 'executions', ['running'], 'pending')
    .set({ ...NO_LEASE, replay: UNANSWERED, available_at: NEVER })
    // They have not started, and hold nothing.
    .set({ started_at: null, attempt_started_at: null, held_keys: null })
    .where('id', 'in', ids)
    .execute();
}

/** Finds executions of these agents that wait to run in a shadow replay. */
export async function findWaitingShadows(
  { db }: Transaction,
  agents: readonly string[],
  limit: number,
): Promise<string[]> {
  const waiting = db
    .selectFrom('executions')
    .innerJoin('correlations', 'correlations.id', 'executions.correlation_id')
    .select('executions.id')
    .where('executions.state', '=', sql.lit('pending' as const))
    .where('executions.agent', 'in', agents)
    .where('executions.replay', '=', sql.lit(RUN))
    .where('replay_mode', '=', sql.lit('shadow' as const))
    .limit(limit);
  // Makes two queries, because each uses one of the partial indexes of the queue.
  const ready = await waiting.where('executions.available_at', 'is', null).execute();
  const others = await waiting.where('executions.available_at', 'is not', null).execute();
  return [...ready, ...others].slice(0, limit).map(({ id }) => id);
}

/** Lets waiting executions of a replay wait for an answer from the record. Returns those that nothing else has locked. */
export async function leaveWaitingToRecord({ db }: Transaction, ids: readonly string[]): Promise<{ id: string }[]> {
  if (ids.length === 0) return [];
  const waiting = db.selectFrom('executions').select('id').where('id', 'in', ids).where(isInState('pending'));
  return db
    .updateTable('executions')
    .set({ replay: UNANSWERED, available_at: NEVER, blocked_on: null })
    .where('id', 'in', locking(db, waiting, { wait: false }))
    .returning('id')
    .execute();
}
