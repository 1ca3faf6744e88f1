import { randomUUID } from 'node:crypto';

import type { Transaction } from '../../database/unit-of-work.js';
import { NO_SPAN, type Span } from '../../observability/tracing/tracing.js';
import type { Spender } from '../budgets/usages.js';
import type { ClaimedExecution } from './claims.js';
import type { ExecutionRow } from './leased-executions.js';

export interface ExecutionFailure {
  type: string;
  message: string;
  /** Another attempt would fail too, so none follows. */
  isFinal?: boolean;
  /** The next attempt waits at least this long, for an hour at most. */
  retryAfterMs?: number;
}

/** The fields of an execution that its outcome needs, whether it was claimed here or taken over from a lost process. */
export type EndingExecution = Pick<
  ClaimedExecution,
  'id' | 'agent' | 'correlationId' | 'attempt' | 'direct' | 'leaseToken'
> &
  Spender & {
    inputs: { seq: number; id: string }[];
    /** The span of the attempt. */
    span: Span;
    /** A client ends the execution and may repeat the request, so the ended lease is kept. */
    fromOutside?: boolean;
  };

type Ending = Pick<ExecutionRow, 'id' | 'queue' | 'correlation_id' | 'attempt' | 'direct'>;

/** Reads an execution that ends under this lease and was not claimed by this process. */
export async function endingExecution(
  { db }: Pick<Transaction, 'db'>,
  row: Ending,
  leaseToken: string,
): Promise<EndingExecution> {
  const inputs = await db
    .selectFrom('execution_inputs')
    .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .select(['artifacts.seq', 'artifacts.id'])
    .where('execution_inputs.execution_id', '=', row.id)
    .orderBy('execution_inputs.position')
    .execute();
  return {
    id: row.id,
    agent: row.queue,
    correlationId: row.correlation_id,
    attempt: row.attempt,
    direct: row.direct === 1,
    leaseToken,
    inputs,
    span: NO_SPAN,
  };
}

/** Leases a waiting execution, which the transaction has locked, in order to end it. No attempt begins. */
export async function leaseToEnd(tx: Transaction, id: string): Promise<string> {
  const leaseToken = randomUUID();
  await tx.db
    .updateTable('executions')
    .set({ state: 'running', lease_token: leaseToken, attempt_started_at: null })
    .where('id', '=', id)
    .execute();
  return leaseToken;
}
