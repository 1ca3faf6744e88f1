import { Inject, Injectable } from '@nestjs/common';

import { LOGGER, type Logger } from '../../common/logger.js';
import { type ExecutionOutcome, Telemetry, workOrigin } from '../../common/telemetry.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { describeDetails } from '../../engines/error-details.js';
import { type Span, traceIdOf, Tracing } from '../../observability/tracing/tracing.js';
import { LiveEvents } from '../../pubsub/live-events.js';
import type { ClaimedExecution } from './claimed-execution.js';
import type { ExecutionFailure } from './ending-execution.js';
import { executionEvent } from './execution-events.js';

/** The execution and its attempt. */
type Attempted = Pick<ClaimedExecution, 'id' | 'agent' | 'attempt' | 'correlationId' | 'replay'> & {
  /** Absent if it has no variant. */
  variant?: string | null;
};

/** Reports attempts to the log, the metrics, the traces and the streams. */
@Injectable()
export class AttemptReports {
  constructor(
    private readonly telemetry: Telemetry,
    private readonly tracing: Tracing,
    private readonly liveEvents: LiveEvents,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  claimed({
    agent,
    attempt,
    replay,
    waitedMs,
  }: Pick<ClaimedExecution, 'agent' | 'attempt' | 'replay' | 'waitedMs'>): void {
    // A retry has waited for its delay, which says nothing about the queue.
    if (attempt === 1) this.telemetry.executionClaimed(agent, workOrigin(replay), waitedMs);
  }

  /** `now`: epoch ms. */
  started(execution: Attempted, now: number): void {
    if (this.liveEvents.areWanted) this.liveEvents.emit(executionEvent('execution_started', execution, now));
  }

  /** Reports after the commit that an execution, which the transaction also ends, has started. */
  startedIn(tx: Transaction, execution: Attempted, now: number): void {
    if (this.liveEvents.areWanted)
      this.liveEvents.emitAfterCommit(tx, executionEvent('execution_started', execution, now));
  }

  /** The attempts of one execution are sibling spans, because they have the same cause. */
  span({ id, agent, attempt, correlationId, traceparent }: Attempted & Pick<ClaimedExecution, 'traceparent'>): Span {
    return this.tracing.start(`agent ${agent}`, {
      kind: 'consumer',
      parent: traceparent,
      attributes: {
        'starling.agent': agent,
        'starling.execution.id': id,
        'starling.execution.attempt': attempt,
        'starling.correlation.id': correlationId,
      },
    });
  }

  ended(
    execution: Attempted & { span: Span },
    { outcome, failure }: { outcome: ExecutionOutcome; failure?: ExecutionFailure },
    ms: number,
  ): void {
    const { agent, replay, variant = null } = execution;
    const work = { agent, origin: workOrigin(replay), variant };
    if (outcome !== 'waiting') this.telemetry.executionEnded(work, outcome, ms);
    execution.span.end({
      attributes: {
        'starling.execution.outcome': outcome,
        'starling.variant': variant ?? undefined,
        'error.type': failure?.type,
      },
      failed: failure !== undefined,
    });
    const fields = {
      agent,
      execution_id: execution.id,
      correlation_id: execution.correlationId,
      attempt: execution.attempt,
      ...(variant !== null && { variant }),
      ...traceOf(execution),
      outcome,
      duration_ms: Math.round(ms),
      ...(failure && { error_type: failure.type }),
    };
    if (failure) this.logger.warn({ ...fields, err: loggedError(failure) }, 'execution');
    else this.logger[outcome === 'waiting' ? 'debug' : 'info'](fields, 'execution');
  }
}

/** An error for pino, which takes the type of an error from its name only if it has no constructor. */
const loggedError = ({ type, message, details = NO_DETAILS }: ExecutionFailure): unknown =>
  Object.create(null, {
    name: { value: type },
    message: { value: message },
    stack: { value: describeDetails(`${type}: ${message}`, details) },
  });

const NO_DETAILS = { cause: null, stack: null };

/** Fields for log lines, so that they can be found from a trace. */
export const traceOf = ({ span: { traceparent } }: { span: Span }): { trace_id?: string } =>
  traceparent === null ? {} : { trace_id: traceIdOf(traceparent) };
