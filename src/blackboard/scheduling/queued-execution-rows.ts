import { type Insertable, type Selectable, sql } from 'kysely';

import { dialectOf } from '../../database/dialects/dialect.js';
import { places, prepared, preparedInsert } from '../../database/prepared.js';
import type { ExecutionsTable, ExecutionState } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';

const COLUMNS = [
  'id',
  'agent',
  'subscription',
  'correlation_id',
  'generation',
  'direct',
  'batch',
  'priority',
  'attempt',
  'lost_leases',
  'traceparent',
  'assignee',
  'due_at',
  'limit_keys',
  'blocked_on',
  'available_at',
  'created_at',
] as const;

export type NewExecutionRow = Pick<Selectable<ExecutionsTable>, (typeof COLUMNS)[number]>;

export const insertExecutions = preparedInsert('executions', [...COLUMNS, 'state']);

/** A lease from the beginning of an execution: the process that runs it, and its end (epoch ms). */
export interface NewLease {
  leaseToken: string;
  owner: string;
  until: number;
}

/**
 * Inserts an execution as running, under this lease. It is inserted as pending, and returned as such, if its agent is
 * paused or another process is registered: then only a claim, which locks the agent, may start it.
 */
export const insertRunning = prepared<NewExecutionRow & NewLease, { state: ExecutionState }>((db, place) => {
  const text = (name: 'leaseToken' | 'owner') => sql<string>`cast(${place(name)} as text)`;
  const number = (name: 'created_at' | 'until') => sql<number>`cast(${place(name)} as bigint)`;
  const paused = sql`exists (select 1 from agent_pauses where agent = ${place('agent')})`;
  // Exactly this process: it must be registered, or else another one may take itself for the only one.
  const alone = dialectOf(db).isOnlyProcess(text('owner'), number('created_at'));
  const mustWait = sql`${paused} or not ${alone}`;
  const running = <T>(value: T) => sql`case when not must_wait then ${value} end`;
  const columns = {
    ...places(place, COLUMNS),
    state: sql`case when must_wait then 'pending' else 'running' end`,
    lease_token: running(text('leaseToken')),
    lease_owner: running(text('owner')),
    lease_until: running(number('until')),
    claim: running(dialectOf(db).nextClaim),
    started_at: running(number('created_at')),
    attempt_started_at: running(number('created_at')),
  };
  return db
    .insertInto('executions')
    .columns(Object.keys(columns) as (keyof Insertable<ExecutionsTable>)[])
    .expression(sql`select ${sql.join(Object.values(columns))} from (select ${mustWait} as must_wait) as checked`)
    .returning('state');
});

export const insertInputs = preparedInsert('execution_inputs', ['execution_id', 'position', 'artifact_seq']);

/** Counts the executions of an agent in the current generation of a correlation. */
export async function countInGeneration(
  { db }: Transaction,
  { id, generation }: TrackedCorrelation,
  agent: string,
): Promise<number> {
  const { count } = await db
    .selectFrom('executions')
    .select((expression) => expression.fn.countAll<number>().as('count'))
    .where('correlation_id', '=', id)
    .where('agent', '=', agent)
    .where('generation', '=', generation)
    .executeTakeFirstOrThrow();
  return count;
}

export const findAgentOf = (
  db: Reader,
  executionId: string,
): Promise<{ agent: string; correlation_id: string } | undefined> =>
  db.selectFrom('executions').select(['agent', 'correlation_id']).where('id', '=', executionId).executeTakeFirst();
