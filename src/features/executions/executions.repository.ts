import { Injectable } from '@nestjs/common';
import { type Kysely, type Selectable, type SelectQueryBuilder, sql } from 'kysely';

import type { WaitingState } from '../../blackboard/scheduling/waiting-rows.js';
import type {
  ExecutionAttemptsTable,
  ExecutionsTable,
  ExecutionState,
  Schema,
  ToolCallsTable,
  UsageTable,
} from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import { NEVER } from '../../queue/queue.js';
import { isInState } from '../../queue/state-predicate.js';

export interface ListPage {
  limit: number;
  offset: number;
}

/** Maximum number of tool calls, model uses and attempts that one execution shows; retries can add any number. */
const MOST_OF_A_KIND = 1_000;

export type ExecutionRow = Selectable<ExecutionsTable>;

/** Reads executions with their attempts, model uses and tool calls. */
@Injectable()
export class ExecutionsRepository {
  /** Returns the page, newest first, plus one further row if more rows match. */
  list(db: Reader, filter: ExecutionFilter, { limit, offset }: ListPage): Promise<ExecutionRow[]> {
    return db
      .with(
        (cte) => cte('found').materialized(),
        () => newestOf(db, filter, offset + limit + 1),
      )
      .with(
        (cte) => cte('page').materialized(),
        (found) =>
          found
            .selectFrom('found')
            .select('seq')
            .orderBy('seq', 'desc')
            .limit(limit + 1)
            .offset(offset),
      )
      .selectFrom('page')
      .innerJoin('executions', 'executions.seq', 'page.seq')
      .selectAll('executions')
      .orderBy('page.seq', 'desc')
      .execute();
  }

  find(db: Reader, id: string): Promise<ExecutionRow | undefined> {
    return db.selectFrom('executions').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /**
   * Returns the newest rows, oldest first. Each attempt that used a model has one row; an attempt that was repeated
   * after a lost lease has several.
   */
  async modelUses(db: Reader, executionId: string): Promise<Selectable<UsageTable>[]> {
    const newest = await db
      .selectFrom('usage')
      .selectAll()
      .where('execution_id', '=', executionId)
      .orderBy('seq', 'desc')
      .limit(MOST_OF_A_KIND)
      .execute();
    return newest.reverse();
  }

  /** Returns the newest tool calls, oldest first. */
  async toolCalls(db: Reader, executionId: string): Promise<Selectable<ToolCallsTable>[]> {
    const newest = await db
      .selectFrom('tool_calls')
      .selectAll()
      .where('execution_id', '=', executionId)
      .orderBy('seq', 'desc')
      .limit(MOST_OF_A_KIND)
      .execute();
    return newest.reverse();
  }

  /** Returns the newest attempts before the last one, oldest first. */
  async failedAttempts(db: Reader, executionId: string): Promise<Selectable<ExecutionAttemptsTable>[]> {
    const own = db.selectFrom('execution_attempts').selectAll().where('execution_id', '=', executionId);
    const newest = await own.orderBy('round', 'desc').orderBy('attempt', 'desc').limit(MOST_OF_A_KIND).execute();
    return newest.reverse();
  }
}

/** The filters of a list of executions; null does not filter. */
interface ExecutionFilter {
  state: ExecutionState | null;
  agent: string | null;
  correlationId: string | null;
  assignee: string | null;
  failureGroup: string | null;
  /** Whether to include executions of replays. */
  replays: boolean;
  /** `state` is then ignored. */
  open: OpenFilter | null;
}

/** Keeps only executions of these agents, by how far they are. At least one agent. */
export interface OpenFilter {
  agents: Partial<Record<OpenState, readonly string[]>>;
  /** Leaves out the executions of these agents that need these configurations (`configurationKey`). */
  except: readonly { agent: string; configuration: string }[];
}

/** Executions that have not ended. */
export type OpenState = WaitingState | 'running';

type Found = SelectQueryBuilder<Schema, 'executions', { seq: number }>;

/**
 * Selects the positions of matching executions, the newest `most` among them. Ended executions have one ordered index
 * for each state. Executions that have not ended are in the small indexes that claims use, and a correlation has few
 * executions: these are selected without order and limit, because with them Postgres would choose to scan all
 * executions.
 */
function newestOf(db: Kysely<Schema>, filter: ExecutionFilter, most: number): Found {
  if (filter.open !== null) return open(db, filter, filter.open);
  const all = allOf(db, filter);
  if (filter.assignee !== null) return newest(db, assigned(all, { ...filter, assignee: filter.assignee }), most);
  if (filter.correlationId !== null) {
    const own = all.where('correlation_id', '=', filter.correlationId);
    return filter.state === null ? own : own.where('state', '=', filter.state);
  }
  // The index of a group contains failed executions only.
  if (filter.failureGroup !== null)
    return newest(db, filter.state === null ? all : all.where(isInState(filter.state)), most);
  if (filter.state === null && filter.agent === null) return newest(db, all, most);
  const [first, ...others] = (filter.state === null ? STATES : [filter.state]).flatMap((state) =>
    inState(db, all, state, most),
  );
  return others.reduce((found, part) => found.unionAll(part), first!);
}

/** Selects from the indexes that claims use. */
function open(db: Kysely<Schema>, filter: ExecutionFilter, { agents, except }: OpenFilter): Found {
  const { correlationId, assignee } = filter;
  let all = allOf(db, filter);
  for (const { agent, configuration } of except)
    all = all.where(({ eb, or }) =>
      or([eb('configuration', 'is', null), eb('configuration', '<>', configuration), eb('agent', '<>', agent)]),
    );
  if (correlationId !== null) all = all.where('correlation_id', '=', correlationId);
  if (assignee !== null) all = all.where('assignee', '=', assignee);
  const [first, ...others] = (Object.entries(agents) as [OpenState, readonly string[]][])
    .filter(([, names]) => names.length > 0)
    .map(([state, names]) => OPEN[state](all.where('agent', 'in', names)));
  return others.reduce((found, part) => found.unionAll(part), first!);
}

/** Selects from the index of assigned executions, which covers every state. */
function assigned(all: Found, { assignee, correlationId, state }: ExecutionFilter & { assignee: string }): Found {
  const own = all.where('assignee', '=', assignee);
  const inCorrelation = correlationId === null ? own : own.where('correlation_id', '=', correlationId);
  return state === null ? inCorrelation : inCorrelation.where(isInState(state));
}

const STATES: readonly ExecutionState[] = ['pending', 'running', 'completed', 'failed', 'cancelled'];

const later = (all: Found): Found => all.where('state', '=', sql.lit('pending')).where('available_at', 'is not', null);

/** Each reads one partial index, see `inState`. */
const OPEN: Record<OpenState, (all: Found) => Found> = {
  ready: (all) => all.where('state', '=', sql.lit('pending')).where('available_at', 'is', null),
  retrying: (all) => later(all).where('available_at', '<', NEVER),
  blocked: (all) => later(all).where('available_at', '=', NEVER),
  running: (all) => all.where('state', '=', sql.lit('running')),
};

/**
 * Repeats the conditions of the partial indexes with literals, because a partial index cannot serve a query whose state
 * is a parameter.
 */
function inState(db: Kysely<Schema>, all: Found, state: ExecutionState, most: number): Found[] {
  switch (state) {
    case 'pending':
      return [OPEN.ready(all), later(all)];
    case 'running':
      return [OPEN.running(all)];
    default:
      return [newest(db, all.where('state', '=', sql.lit(state)).where('ended_at', 'is not', null), most)];
  }
}

function allOf(db: Kysely<Schema>, { agent, failureGroup, replays }: ExecutionFilter): Found {
  const all = inGroup(ofAgent(db.selectFrom('executions').select('seq'), agent), failureGroup);
  return replays ? all : all.where('replay', '=', sql.lit(0));
}

const ofAgent = (executions: Found, agent: string | null): Found =>
  agent === null ? executions : executions.where('agent', '=', agent);

const inGroup = (executions: Found, group: string | null): Found =>
  group === null ? executions : executions.where('failure_group', '=', group);

const newest = (db: Kysely<Schema>, executions: Found, most: number): Found =>
  db.selectFrom(executions.orderBy('seq', 'desc').limit(most).as('newest')).select('newest.seq') as unknown as Found;
