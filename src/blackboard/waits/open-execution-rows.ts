import { type Selectable, sql } from 'kysely';

import type { ExecutionsTable, ExecutionState } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import { NEVER } from '../../queue/queue.js';

/** The columns that show why an execution has not ended. Booleans are 0 or 1. */
export interface OpenState {
  agent: string;
  state: ExecutionState;
  /** The configuration that a process needs to run it (`configurationKey`). */
  configuration: string | null;
  /** Whether it waits for the time of its next attempt, or for a budget. */
  delayed: number;
  /** Whether a process has its lease. */
  owned: number;
  /** Whether it waits for room in a budget. */
  budget: number;
  /** Whether it waits for a limit. */
  limited: number;
}

const DELAYED = sql<number>`case when executions.available_at is null then 0 else 1 end`.as('delayed');
const OWNED = sql<number>`case when executions.lease_owner is null then 0 else 1 end`.as('owned');
const BUDGET = sql<number>`coalesce(waiting.waits, 0)`.as('budget');

const LIMITED = sql<number>`case when executions.available_at = ${sql.lit(NEVER)} then 1 else 0 end`.as('limited');

/**
 * The executions of a correlation after a position that have not ended, with their entries among those that wait for a
 * budget. Without the position, SQLite would count along an index that has the ended ones too.
 */
const openOf = (db: Reader, correlationId: string, after: number) =>
  db
    .selectFrom('executions')
    .leftJoin('budget_reservations as waiting', (join) =>
      join.onRef('waiting.execution_id', '=', 'executions.id').on('waiting.waits', '=', sql.lit(1)),
    )
    .where('executions.correlation_id', '=', correlationId)
    .where('executions.ended_at', 'is', null)
    .where('executions.seq', '>', after);

export const countOpen = (db: Reader, correlationId: string): Promise<(OpenState & { count: number })[]> =>
  openOf(db, correlationId, 0)
    .select(['executions.agent', 'executions.state', 'executions.configuration', DELAYED, OWNED, BUDGET, LIMITED])
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .groupBy([
      'executions.agent',
      'executions.state',
      'executions.configuration',
      'delayed',
      'owned',
      'budget',
      'limited',
    ])
    .execute();

const COLUMNS = [
  'seq',
  'id',
  'agent',
  'state',
  'configuration',
  'attempt',
  'assignee',
  'claimed_by',
  'available_at',
  'lease_until',
  'due_at',
  'created_at',
  'attempt_started_at',
  'priority',
  'background',
  'blocked_on',
  'held_keys',
  'limit_keys',
  'fair_key',
] as const;

export type OpenExecution = OpenState & Pick<Selectable<ExecutionsTable>, (typeof COLUMNS)[number]>;

/** Finds the first executions after a position, in the order of their creation. */
export const findOpen = (db: Reader, correlationId: string, after: number, limit: number): Promise<OpenExecution[]> =>
  openOf(db, correlationId, after)
    .select(COLUMNS.map((column) => `executions.${column}` as const))
    .select([DELAYED, OWNED, BUDGET, LIMITED])
    .orderBy('executions.seq')
    .limit(limit)
    .execute();

/** Finds when the last failed attempt of each of these executions ended (epoch ms). */
export async function findLastFailures(db: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('execution_attempts')
    .select(({ fn }) => ['execution_id', fn.max<number>('ended_at').as('ended_at')])
    .where('execution_id', 'in', ids)
    .groupBy('execution_id')
    .execute();
  return new Map(rows.map(({ execution_id, ended_at }) => [execution_id, ended_at]));
}

/** Counts what each of these processes runs. Processes that run nothing are left out. */
export async function countRunningByProcess(db: Reader, ids: readonly string[]): Promise<ReadonlyMap<string, number>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom('executions')
    .select(({ fn, ref }) => [ref('lease_owner').$notNull().as('owner'), fn.countAll<number>().as('count')])
    // A literal, because the database does not use a partial index if the state is a parameter.
    .where('state', '=', sql.lit('running' as const))
    .where('lease_owner', 'in', ids)
    .groupBy('lease_owner')
    .execute();
  return new Map(rows.map(({ owner, count }) => [owner, count]));
}
