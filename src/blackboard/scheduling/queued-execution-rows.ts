import { type Insertable, type Kysely, type QueryCreator, type RawBuilder, type Selectable, sql } from 'kysely';

import { type Dialect, dialectOf } from '../../database/dialects/dialect.js';
import { places, prepared, preparedInsert } from '../../database/prepared.js';
import type { ExecutionsTable, ExecutionState, Schema } from '../../database/schema.js';
import { sharedInsert, sharing } from '../../database/shared-statement.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';

const COLUMNS = [
  'id',
  'agent',
  'subscription',
  'correlation_id',
  'generation',
  'direct',
  'replay',
  'batch',
  'priority',
  'background',
  'attempt',
  'lost_leases',
  'traceparent',
  'assignee',
  'due_at',
  'configuration',
  'limit_keys',
  'blocked_on',
  'fair_key',
  'fair_weight',
  'cancel_key',
  'singleton_key',
  'singleton_waits',
  'available_at',
  'created_at',
] as const;

export type NewExecutionRow = Pick<Selectable<ExecutionsTable>, (typeof COLUMNS)[number]>;

export const insertExecutions = sharedInsert('executions', [...COLUMNS, 'state']);

const COMPLETED_COLUMNS = [...COLUMNS, 'state', 'started_at', 'attempt_started_at', 'ended_at', 'definition'] as const;

export type CompletedExecutionRow = Pick<Insertable<ExecutionsTable>, (typeof COMPLETED_COLUMNS)[number]> &
  NewExecutionRow;

/** Inserts executions whose agents have answered before the transaction. */
export const insertCompleted = sharedInsert('executions', COMPLETED_COLUMNS);

/** Inserts an execution that has ended already. */
export const insertEnded = preparedInsert('executions', [
  ...COLUMNS,
  'state',
  'ended_at',
  'skipped_for',
  'superseded_by',
]);

const LEASED_COLUMNS = [...COLUMNS, 'lease_token', 'lease_owner', 'lease_until'] as const;

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
export const insertRunning = sharing<NewExecutionRow & NewLease, { state: ExecutionState }>(
  prepared((db, place) => {
    const text = (name: 'leaseToken' | 'owner') => sql<string>`cast(${place(name)} as text)`;
    const number = (name: 'created_at' | 'until') => sql<number>`cast(${place(name)} as bigint)`;
    const row = { ...places(place, COLUMNS), created_at: number('created_at') };
    const lease = { lease_token: text('leaseToken'), lease_owner: text('owner'), lease_until: number('until') };
    return insertUnlessMustWait(db, dialectOf(db), { ...row, ...lease } as Leased).returning('state');
  }),
  {
    table: 'executions',
    columns: LEASED_COLUMNS,
    rowOf: ({ leaseToken, owner, until, ...row }) => ({
      ...row,
      lease_token: leaseToken,
      lease_owner: owner,
      lease_until: until,
    }),
    key: 'id',
    answers: true,
    addsRows: false,
    build: (db, given, dialect) => {
      const row = Object.fromEntries(LEASED_COLUMNS.map((column) => [column, sql.ref(`given.${column}`)]));
      return insertUnlessMustWait(db, dialect, row as Leased, given).returning(['state', 'id']);
    },
  },
);

type Leased = Record<(typeof LEASED_COLUMNS)[number], RawBuilder<never>>;

/** `row`: the columns of one row, or of each row of `given`. */
function insertUnlessMustWait(db: QueryCreator<Schema>, dialect: Dialect, row: Leased, given?: RawBuilder<unknown>) {
  const { agent, created_at: now, lease_token, lease_owner, lease_until } = row;
  const paused = sql`exists (select 1 from agent_pauses where agent_pauses.agent = ${agent})`;
  // Exactly this process: it must be registered, or else another one may take itself for the only one.
  const mustWait = sql`${paused} or not ${dialect.isOnlyProcess(lease_owner, now)}`;
  const running = <T>(value: T) => sql`case when not must_wait then ${value} end`;
  const columns = {
    ...row,
    state: sql`case when must_wait then 'pending' else 'running' end`,
    lease_token: running(lease_token),
    lease_owner: running(lease_owner),
    lease_until: running(lease_until),
    claim: running(dialect.nextClaim),
    started_at: running(now),
    attempt_started_at: running(now),
  };
  // Without the offset, Postgres would look at the processes and pauses again for each column that depends on them.
  const checked = given
    ? sql`(select given.*, ${mustWait} as must_wait from ${given} offset 0) as given`
    : sql`(select ${mustWait} as must_wait) as checked`;
  return db
    .insertInto('executions')
    .columns(Object.keys(columns) as (keyof Insertable<ExecutionsTable>)[])
    .expression(sql`select ${sql.join(Object.values(columns))} from ${checked}`);
}

const insertInputRows = sharedInsert('execution_inputs', ['execution_id', 'position', 'artifact_seq']);

/** Inserts the inputs of executions. `inputs`: the positions of their artifacts, in the order in which the agent sees them. */
export const insertInputs = (
  db: Kysely<Schema>,
  executions: readonly { id: string; inputs: readonly number[] }[],
): Promise<void> =>
  insertInputRows(
    db,
    executions.flatMap(({ id, inputs }) =>
      inputs.map((artifact_seq, position) => ({ execution_id: id, position, artifact_seq })),
    ),
  );

/** Counts the executions of an agent in the current generation of a correlation. Those that `debounce` has superseded never run. */
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
    .where('superseded_by', 'is', null)
    .executeTakeFirstOrThrow();
  return count;
}

export const findAgentOf = (
  db: Reader,
  executionId: string,
): Promise<{ agent: string; correlation_id: string } | undefined> =>
  db.selectFrom('executions').select(['agent', 'correlation_id']).where('id', '=', executionId).executeTakeFirst();
