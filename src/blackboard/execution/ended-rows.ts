import type { Selectable } from 'kysely';

import { failureGroupOf } from '../../common/failure-group.js';
import { preparedInsert, preparedWithList } from '../../database/prepared.js';
import type { ExecutionAttemptsTable } from '../../database/schema.js';
import { sharedInsert } from '../../database/shared-statement.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { EndingExecution, ExecutionFailure } from './ending-execution.js';
import type { ReleasedExecution } from './lease-rows.js';

/** Records which artifacts an execution has consumed, once per execution, even if it is retried. */
export async function consume(
  tx: Transaction,
  {
    id,
    agent,
    inputs,
    correlationId,
    replay,
  }: Pick<EndingExecution, 'id' | 'agent' | 'inputs' | 'correlationId' | 'replay'>,
  { round }: ReleasedExecution,
  now: number,
): Promise<void> {
  // After a retry by a client, the first end has recorded them already.
  if (round > 0) return;
  let distinct = new Set(inputs.map(({ seq }) => seq));
  // A replay may read artifacts of other correlations from the record, and changes nothing about these.
  if (replay) distinct = new Set((await findOwn(tx.db, { correlationId }, [...distinct])).map(({ seq }) => seq));
  await insertConsumptions(
    tx.db,
    [...distinct].map((artifact_seq) => ({ artifact_seq, execution_id: id, consumer: agent, consumed_at: now })),
  );
}

const findOwn = preparedWithList<{ correlationId: string }, number, { seq: number }>((db, place, seqs) =>
  db
    .selectFrom('artifacts')
    .select('seq')
    .where('seq', 'in', seqs)
    .where('correlation_id', '=', place('correlationId')),
);

const insertConsumptions = sharedInsert('consumptions', ['artifact_seq', 'execution_id', 'consumer', 'consumed_at']);

/** Counts a failed execution in its failure group. */
export async function countFailure(
  tx: Transaction,
  agent: string,
  { type: error_type, message: errorMessage }: ExecutionFailure,
  now: number,
): Promise<void> {
  const { id, message } = failureGroupOf(agent, error_type, errorMessage);
  await insertFailure(tx.db, [{ failure_group: id, change: 1, agent, error_type, message, failed_at: now }]);
}

const insertFailure = preparedInsert('failure_changes', [
  'failure_group',
  'change',
  'agent',
  'error_type',
  'message',
  'failed_at',
]);

/** Stores a failed attempt in the history, before the next attempt overwrites its fields in the execution's row. */
export const recordFailedAttempt = (tx: Transaction, attempt: Selectable<ExecutionAttemptsTable>): Promise<void> =>
  insertAttempts(tx.db, [attempt]);

export const insertAttempts = preparedInsert('execution_attempts', [
  'execution_id',
  'round',
  'attempt',
  'started_at',
  'ended_at',
  'error_type',
  'error_message',
  'error_cause',
  'error_stack',
]);
