import { preparedInsert } from '../../database/prepared.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';

export const insertExecutions = preparedInsert('executions', [
  'id',
  'agent',
  'subscription',
  'correlation_id',
  'generation',
  'state',
  'direct',
  'batch',
  'priority',
  'attempt',
  'lost_leases',
  'traceparent',
  'assignee',
  'due_at',
  'created_at',
]);

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
