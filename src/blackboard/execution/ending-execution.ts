import type { Reader } from '../../database/unit-of-work.js';
import type { ErrorDetails } from '../../engines/error-details.js';
import { NO_SPAN, type Span } from '../../observability/tracing/tracing.js';
import type { Spender } from '../budgets/usages.js';
import type { CacheUse } from './cache-use.js';
import type { ClaimedExecution } from './claimed-execution.js';
import { findInputIds } from './input-rows.js';
import type { ExecutionRow } from './leased-executions.js';

export interface ExecutionFailure {
  type: string;
  message: string;
  /** The origin of an engine's error. Absent for other failures. */
  details?: ErrorDetails;
  /** Another attempt would fail too, so none follows. */
  isFinal?: boolean;
  /** No agent reacts to its WorkflowError, and the error cancels nothing. */
  isSilent?: boolean;
  /** The next attempt waits at least this long, for an hour at most. */
  retryAfterMs?: number;
}

/**
 * The end of a branch of a shadow replay. `effect`: why the agent may change something (`effectOf`). `lack`: why the
 * record has no answer.
 */
export const notInShadow = (agent: string, effect: string, lack: string): ExecutionFailure => ({
  type: 'shadow',
  message: `${agent} does not run in a shadow replay, because ${effect}, and ${lack}`,
  isSilent: true,
});

/** The fields of an execution that its outcome needs, whether it was claimed here or taken over from a lost process. */
export type EndingExecution = Pick<
  ClaimedExecution,
  'id' | 'agent' | 'correlationId' | 'attempt' | 'direct' | 'replay' | 'leaseToken' | 'limitKeys'
> &
  Spender & {
    inputs: { seq: number; id: string }[];
    /** The span of the attempt. */
    span: Span;
    /** Its agent did not run, so the activity of the agent leaves it out. */
    withoutRun?: boolean;
    /** A client ends the execution and may repeat the request, so the ended lease is kept. */
    fromOutside?: boolean;
    /** The digest of the answer with which a client completes it. */
    answerDigest?: string;
    /** The digest of its agent's definition. Absent if this process did not run the attempt. */
    definition?: string | null;
    /** See ClaimedExecution. Absent if this process did not run the attempt. */
    variant?: string | null;
    /** Absent if this process did not run the attempt, or if its agent has no `cache`. */
    cache?: CacheUse | null;
  };

type Ending = Pick<ExecutionRow, 'id' | 'queue' | 'correlation_id' | 'attempt' | 'direct' | 'replay' | 'limit_keys'>;

/** Reads an execution that ends under this lease and was not claimed by this process. */
export async function endingExecution(db: Reader, row: Ending, leaseToken: string): Promise<EndingExecution> {
  return {
    id: row.id,
    agent: row.queue,
    correlationId: row.correlation_id,
    attempt: row.attempt,
    direct: row.direct === 1,
    replay: row.replay > 0,
    leaseToken,
    limitKeys: row.limit_keys,
    inputs: await findInputIds(db, row.id),
    span: NO_SPAN,
  };
}
