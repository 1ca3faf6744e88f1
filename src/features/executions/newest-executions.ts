import { type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import type { ExecutionState, Schema } from '../../database/schema.js';
import { isInState } from '../../queue/state-predicate.js';

/** Which executions a list asks for; null asks for nothing. */
export interface ExecutionFilter {
  state: ExecutionState | null;
  agent: string | null;
  correlationId: string | null;
  assignee: string | null;
  /** Those alone that wait for one of these agents, whatever `state` says. */
  waitingFor: readonly string[] | null;
}

type Found = SelectQueryBuilder<Schema, 'executions', { seq: number }>;

/**
 * Positions of executions that match, among them the newest `most`. What has ended lies in order in an index for each of its states.
 * What has not is in the small indexes that it is claimed by, and a correlation's own are few: these come whole, since for a page in
 * order Postgres would rather walk through all executions.
 */
export function newestOf(db: Kysely<Schema>, filter: ExecutionFilter, most: number): Found {
  if (filter.waitingFor !== null) return waiting(db, filter, filter.waitingFor);
  const all = ofAgent(db.selectFrom('executions').select('seq'), filter.agent);
  if (filter.assignee !== null) return newest(db, assigned(all, { ...filter, assignee: filter.assignee }), most);
  if (filter.correlationId !== null) {
    const own = all.where('correlation_id', '=', filter.correlationId);
    return filter.state === null ? own : own.where('state', '=', filter.state);
  }
  if (filter.state === null && filter.agent === null) return newest(db, all, most);
  const [first, ...others] = (filter.state === null ? STATES : [filter.state]).flatMap((state) => inState(db, all, state, most));
  return others.reduce((found, part) => found.unionAll(part), first!);
}

/** In the indexes that they are claimed by. */
function waiting(db: Kysely<Schema>, { agent, correlationId, assignee }: ExecutionFilter, agents: readonly string[]): Found {
  let all = ofAgent(db.selectFrom('executions').select('seq'), agent).where('agent', 'in', agents);
  if (correlationId !== null) all = all.where('correlation_id', '=', correlationId);
  if (assignee !== null) all = all.where('assignee', '=', assignee);
  const [ready, retrying] = inState(db, all, 'pending', 0);
  return ready!.unionAll(retrying!);
}

/** What is one's own has an index for itself, whatever its state. */
function assigned(all: Found, { assignee, correlationId, state }: ExecutionFilter & { assignee: string }): Found {
  const own = all.where('assignee', '=', assignee);
  const inCorrelation = correlationId === null ? own : own.where('correlation_id', '=', correlationId);
  return state === null ? inCorrelation : inCorrelation.where(isInState(state));
}

const STATES: readonly ExecutionState[] = ['pending', 'running', 'completed', 'failed', 'cancelled'];

/** By the conditions of the partial indexes, with literals, since they serve no query whose state is a parameter. */
function inState(db: Kysely<Schema>, all: Found, state: ExecutionState, most: number): Found[] {
  const ofState = all.where('state', '=', sql.lit(state));
  switch (state) {
    case 'pending':
      return [ofState.where('available_at', 'is', null), ofState.where('available_at', 'is not', null)];
    case 'running':
      return [ofState];
    default:
      return [newest(db, ofState.where('ended_at', 'is not', null), most)];
  }
}

const ofAgent = (executions: Found, agent: string | null): Found => (agent === null ? executions : executions.where('agent', '=', agent));

const newest = (db: Kysely<Schema>, executions: Found, most: number): Found =>
  db.selectFrom(executions.orderBy('seq', 'desc').limit(most).as('newest')).select('newest.seq') as unknown as Found;
