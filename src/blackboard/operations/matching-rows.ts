import { type Selectable, type SelectQueryBuilder, sql } from 'kysely';

import type { ExecutionsTable, Schema } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { OperationFilter, Start } from './operation.js';

/** Failed executions that one query reads, whether they match or not. */
export const READ_AT_ONCE = 1_000;

/** A failed execution that may match a filter. */
export type FailedRow = Pick<Selectable<ExecutionsTable>, 'seq' | 'id' | 'agent' | 'error_type'> & {
  correlation_id: string;
  ended_at: number;
};

/**
 * Finds the next failed executions after a position, in the order of positions: all of a correlation, otherwise at most
 * READ_AT_ONCE. They match the part of the filter that has an index, so that a step reads few rows even if few of
 * them match the rest.
 */
export async function findFailed(
  db: Reader,
  { failureGroup, agent, correlationId }: OperationFilter,
  { up_to_seq }: Start,
  after: number,
): Promise<FailedRow[]> {
  let found = db
    .selectFrom('executions')
    .select(['seq', 'id', 'agent', 'correlation_id', 'error_type', 'ended_at'])
    // Literals, because a partial index cannot serve a query whose state is a parameter.
    .where('state', '=', sql.lit('failed' as const))
    .where('ended_at', 'is not', null)
    .where('seq', '>', after)
    .where('seq', '<=', up_to_seq);
  if (failureGroup !== undefined) found = found.where('failure_group', '=', failureGroup);
  else if (agent !== undefined) found = found.where('agent', '=', agent);
  // Replays are retried only where their correlation is named.
  if (correlationId === undefined) found = found.where('replay', '=', sql.lit(0));
  // Without order and limit: with them, Postgres would choose to read all failed executions. A correlation has few.
  const ordered =
    correlationId === undefined
      ? found.orderBy('seq').limit(READ_AT_ONCE)
      : found.where('correlation_id', '=', correlationId);
  const rows = await ordered.$narrowType<{ ended_at: number }>().execute();
  return rows.sort((one, other) => one.seq - other.seq);
}

/** Whether a failed execution matches, and failed before the operation began. */
export const isMatch = (
  { agent, error_type, ended_at }: FailedRow,
  filter: OperationFilter,
  { created_at }: Start,
): boolean =>
  ended_at <= created_at &&
  (filter.agent ?? agent) === agent &&
  (filter.errorType ?? error_type) === error_type &&
  (filter.from ?? ended_at) <= ended_at &&
  (filter.to ?? ended_at) >= ended_at;

type Waiting = SelectQueryBuilder<Schema, 'executions', object>;

/** Finds some of the executions that wait, for a claim or for a retry. */
export async function findWaiting(
  db: Reader,
  filter: OperationFilter,
  start: Start,
  limit: number,
): Promise<{ id: string }[]> {
  for (const waiting of waitingIn(db, filter, start)) {
    const rows = await waiting.select('id').limit(limit).execute();
    if (rows.length > 0) return rows;
  }
  return [];
}

/** Counts the executions that wait, for a claim or for a retry. */
export async function countWaiting(db: Reader, filter: OperationFilter, start: Start): Promise<number> {
  const counts = waitingIn(db, filter, start).map((waiting) =>
    waiting.select(({ fn }) => fn.countAll<number>().as('count')).executeTakeFirstOrThrow(),
  );
  return (await Promise.all(counts)).reduce((sum, { count }) => sum + count, 0);
}

/** Two queries, because each uses one of the partial indexes of the queue. */
function waitingIn(db: Reader, { agent, correlationId, from, to }: OperationFilter, { up_to_seq }: Start): Waiting[] {
  let waiting = db
    .selectFrom('executions')
    .where('state', '=', sql.lit('pending' as const))
    .where('seq', '<=', up_to_seq);
  if (agent !== undefined) waiting = waiting.where('agent', '=', agent);
  if (correlationId !== undefined) waiting = waiting.where('correlation_id', '=', correlationId);
  if (from !== undefined) waiting = waiting.where('created_at', '>=', from);
  if (to !== undefined) waiting = waiting.where('created_at', '<=', to);
  return [waiting.where('available_at', 'is', null), waiting.where('available_at', 'is not', null)];
}
