import { randomUUID } from 'node:crypto';
import type { Transaction } from '../../database/unit-of-work.js';
import { NO_SPAN, type Span } from '../../observability/tracing/tracing.js';
import type { ClaimedExecution } from './claims.js';
import type { ExecutionRow } from './leased-executions.js';
import type { Spender } from '../budgets/usages.js';

export interface ExecutionFailure {
  type: string;
  message: string;
  /** Another attempt would end alike: there is none. */
  isFinal?: boolean;
  /** The next attempt waits at least this long, for an hour at most. */
  retryAfterMs?: number;
}

/** What an execution's outcome needs to know of it; a claimed one knows its inputs, one taken from a dead worker too. */
export type EndingExecution = Pick<ClaimedExecution, 'id' | 'agent' | 'correlationId' | 'attempt' | 'direct' | 'leaseToken'> &
  Spender & {
    inputs: { seq: number; id: string }[];
    /** Of its attempt. */
    span: Span;
    /** Whoever holds the lease ends it from outside, and may say so once more. */
    fromOutside?: boolean;
  };

type Ending = Pick<ExecutionRow, 'id' | 'queue' | 'correlation_id' | 'attempt' | 'direct'>;

/** An execution that is to end under this lease, without having been claimed here. */
export async function endingExecution({ db }: Pick<Transaction, 'db'>, row: Ending, leaseToken: string): Promise<EndingExecution> {
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

/** Leases an execution that waits, and that the transaction holds, to end it at once; no attempt of it begins. */
export async function leaseToEnd(tx: Transaction, id: string): Promise<string> {
  const leaseToken = randomUUID();
  await tx.db.updateTable('executions').set({ state: 'running', lease_token: leaseToken, attempt_started_at: null }).where('id', '=', id).execute();
  return leaseToken;
}
