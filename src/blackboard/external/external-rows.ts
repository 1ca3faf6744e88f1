import { type Selectable, sql } from 'kysely';

import { locking } from '../../database/dialects/dialect.js';
import type { ExecutionsTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { changeState } from '../../queue/change-state.js';
import { NO_LEASE } from '../../queue/leased-rows.js';
import { isInState } from '../../queue/state-predicate.js';
import { type ExecutionRow, EXECUTIONS } from '../execution/leased-executions.js';
import type { AskedFor } from './claim-request.js';

/**
 * Finds executions of an assignee, by priority, then oldest first. The index by assignee keeps this fast even if much waits for other assignees.
 */
export const findReadyFor = (
  { db }: Transaction,
  agent: string,
  assignee: string,
  limit: number,
): Promise<ExecutionRow[]> =>
  EXECUTIONS.select(db)
    .where('agent', '=', agent)
    .where('assignee', '=', assignee)
    // A literal, because the database does not use a partial index if the state is a parameter.
    .where('state', '=', sql.lit('pending' as const))
    .where('available_at', 'is', null)
    .orderBy('priority', 'desc')
    .orderBy('background')
    .orderBy('seq')
    .limit(limit)
    .execute();

/** Whether an execution of the agent waits without an assignee. */
export const hasUnassigned = async (db: Reader, agent: string): Promise<boolean> => {
  const found = await db
    .selectFrom('executions')
    .select('id')
    .where('agent', '=', agent)
    .where('assignee', 'is', null)
    .where('state', '=', sql.lit('pending' as const))
    .where('available_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
};

/** Finds the execution, if it can be claimed. */
export const findReady = ({ db }: Transaction, id: string): Promise<ExecutionRow[]> =>
  EXECUTIONS.select(db).where('id', '=', id).where(isInState('pending')).where('available_at', 'is', null).execute();

/** Returns those of `asked` that have waiting work. */
export async function findWaitingAmong({ db }: Transaction, asked: readonly AskedFor[]): Promise<AskedFor[]> {
  const names = sql.join(asked.map(({ agent, assignee }) => sql`(${agent}, ${assignee})`));
  const { rows } = await sql<AskedFor>`
    select asked.column1 as agent, asked.column2 as assignee from (values ${names}) as asked
    where exists (
      select 1 from executions
      where agent = asked.column1 and assignee = asked.column2 and state = 'pending' and available_at is null
    )`.execute(db);
  return rows;
}

export async function setClaimant(
  { db }: Transaction,
  ids: readonly string[],
  claimed_by: string | null,
): Promise<void> {
  await db.updateTable('executions').set({ claimed_by }).where('id', 'in', ids).execute();
}

/** Makes a claimed execution wait again. Returns 0 if it has another lease, otherwise 1. */
export async function handBack({ db }: Transaction, id: string, leaseToken: string): Promise<number> {
  const { numUpdatedRows } = await changeState(db, 'executions', ['running'], 'pending')
    .set({ ...NO_LEASE, claimed_by: null, released_lease: leaseToken })
    .where('id', '=', id)
    .where('lease_token', '=', leaseToken)
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Extends the lease until `until` (epoch ms). False if it has ended, or if a process owns it. */
export async function extendLease(
  { db }: Transaction,
  id: string,
  leaseToken: string,
  until: number,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('executions')
    .set({ lease_until: until })
    .where('id', '=', id)
    .where('lease_token', '=', leaseToken)
    .where('lease_owner', 'is', null)
    .where(isInState('running'))
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

const LEASED = [
  'id',
  'agent',
  'correlation_id',
  'state',
  'attempt',
  'direct',
  'replay',
  'lease_token',
  'lease_owner',
  'ended_lease',
  'ended_answer',
  'released_lease',
  'attempt_started_at',
  'created_at',
  'ended_at',
  'error_message',
  'traceparent',
  'cancelled_by',
  'limit_keys',
] as const;

/** The fields of an execution that decide what a lease token allows. */
export type Leased = Pick<Selectable<ExecutionsTable>, (typeof LEASED)[number]>;

export const findLeased = (reader: Reader, id: string): Promise<Leased | undefined> =>
  reader.selectFrom('executions').select(LEASED).where('id', '=', id).executeTakeFirst();

export type Overdue = NonNullable<Awaited<ReturnType<typeof holdOverdue>>>;

/** Locks the execution. */
export function holdOverdue(tx: Transaction, id: string) {
  const execution = tx.db
    .selectFrom('executions')
    .select([
      'id',
      'agent as queue',
      'correlation_id',
      'state',
      'attempt',
      'direct',
      'replay',
      'lease_token',
      'claimed_by',
      'due_at',
      'limit_keys',
    ])
    .where('id', '=', id);
  return locking(tx.db, execution, { wait: true }).executeTakeFirst();
}

export async function escalate({ db }: Transaction, id: string, assignee: string, now: number): Promise<void> {
  await db
    .updateTable('executions')
    .set({ assignee, escalated_at: now, fair_key: null })
    .where('id', '=', id)
    .execute();
}

export interface OpenWork {
  agent: string;
  /** Executions that wait to be claimed, including those that wait for the delay of a retry. */
  waiting: number;
  claimed: number;
}

/** Makes three queries, because each reads one partial index; one query over all would read the whole table. */
export async function countOpen(reader: Reader, agents: readonly string[]): Promise<OpenWork[]> {
  const counts = reader
    .selectFrom('executions')
    .select(['agent', ({ fn }) => fn.countAll<number>().as('count')])
    .where('agent', 'in', agents)
    .groupBy('agent');
  const pending = counts.where('state', '=', sql.lit('pending' as const));
  const [ready, retrying, claimed] = await Promise.all([
    pending.where('available_at', 'is', null).execute(),
    pending.where('available_at', 'is not', null).execute(),
    counts.where('state', '=', sql.lit('running' as const)).execute(),
  ]);
  return agents.map((agent) => ({
    agent,
    waiting: countOf(ready, agent) + countOf(retrying, agent),
    claimed: countOf(claimed, agent),
  }));
}

const countOf = (counts: readonly { agent: string; count: number }[], agent: string): number =>
  Number(counts.find((each) => each.agent === agent)?.count ?? 0);
