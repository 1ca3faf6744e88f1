import { Injectable } from '@nestjs/common';

import { toTimestamp } from '../../common/timestamp.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { LiveEvents } from '../../pubsub/live-events.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { Breakers } from '../limits/breakers.js';
import { ExecutedVariants } from '../limits/executed-variants.js';
import { LimitReleases } from '../limits/limit-releases.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { WorkflowErrors } from '../scheduling/workflow-errors.js';
import { countEnd } from './activity-event-rows.js';
import { CachedAnswers } from './cached-answers.js';
import { consume, countFailure } from './ended-rows.js';
import type { EndingExecution, ExecutionFailure } from './ending-execution.js';
import { executionEvent } from './execution-events.js';
import type { ReleasedExecution } from './lease-rows.js';

/** The fields of an execution that the record of its end needs. */
export type EndedExecution = Pick<
  EndingExecution,
  'id' | 'agent' | 'attempt' | 'correlationId' | 'replay' | 'inputs' | 'withoutRun' | 'cache'
>;

/**
 * Records the end of an execution: its consumptions, its agent's activity, live events, an answer for
 * later executions, whose turn is next, what its breaker and its variant count, and the WorkflowError and the failure
 * group of a failure.
 */
@Injectable()
export class EndedExecutions {
  constructor(
    private readonly timers: TimerQueue,
    private readonly errors: WorkflowErrors,
    private readonly liveEvents: LiveEvents,
    private readonly cached: CachedAnswers,
    private readonly releases: LimitReleases,
    private readonly breakers: Breakers,
    private readonly variants: ExecutedVariants,
  ) {}

  /** `outputs`: how many artifacts it published. */
  async completed(
    tx: Transaction,
    { now }: CorrelationChanges,
    execution: EndedExecution,
    released: ReleasedExecution,
    outputs: number,
  ): Promise<void> {
    await this.ended(tx, execution, released, now);
    await this.cached.store(tx, execution, now);
    if (this.liveEvents.areWanted)
      this.liveEvents.emitAfterCommit(tx, executionEvent('execution_succeeded', execution, now));
    await countEnd(tx, execution, released, now, { event: 'completed', outputs });
  }

  async failed(
    tx: Transaction,
    changes: CorrelationChanges,
    execution: EndingExecution,
    released: ReleasedExecution,
    failure: ExecutionFailure,
  ): Promise<void> {
    const { now } = changes;
    await this.ended(tx, execution, released, now);
    if (this.liveEvents.areWanted) {
      const why = { error_type: failure.type };
      this.liveEvents.emitAfterCommit(tx, executionEvent('execution_failed', execution, now, why));
    }
    await this.errors.write(tx, changes, {
      agent: execution.agent,
      errorType: failure.type,
      message: failure.message,
      correlationId: execution.correlationId,
      executionId: execution.id,
      attempts: execution.attempt,
      inputArtifactIds: execution.inputs.map(({ id }) => id),
      silent: execution.direct || failure.isSilent === true,
    });
    await countEnd(tx, execution, released, now, { event: 'failed', outputs: 1 });
    if (!execution.replay) await countFailure(tx, execution.agent, failure, now);
  }

  /**
   * Counts an attempt for its breaker and its variant, which it locks. Call it when the transaction locks no more correlations
   * and executions, because those that wait for the breaker have locked theirs.
   */
  async countAttempt(
    tx: Transaction,
    now: number,
    { agent, limitKeys, variant = null, replay, cache }: EndingExecution,
    { started_at: startedAt }: ReleasedExecution,
    failed: boolean,
  ): Promise<void> {
    // An answer from the cache says nothing about the engine, which was not invoked.
    if (!failed && cache && 'from' in cache) return;
    await this.breakers.record(tx, { agent, limitKeys, startedAt, failed, now });
    await this.variants.record(tx, { agent, variant, replay, startedAt, failed, now });
  }

  private async ended(
    tx: Transaction,
    execution: EndedExecution,
    released: ReleasedExecution,
    now: number,
  ): Promise<void> {
    await consume(tx, execution, released, now);
    // Locks the timer after the correlation, in the same order as the code that sets it.
    if (released.due_at !== null) await this.timers.cancel(tx, 'due', execution.id);
    const { singleton_key, held_keys } = released;
    // One that waits may end, too, and no process notices that what it has held is free.
    if (singleton_key !== null || held_keys !== null)
      tx.afterCommit(() => this.releases.turnsFreed([{ agent: execution.agent, singleton_key, held_keys }]));
    if (!this.liveEvents.areWanted) return;
    const { id: execution_id, agent: consumer, correlationId: correlation_id, replay } = execution;
    for (const artifact_id of new Set(execution.inputs.map(({ id }) => id))) {
      this.liveEvents.emitAfterCommit(tx, {
        event_type: 'artifact_consumed',
        artifact_id,
        consumer,
        execution_id,
        correlation_id,
        ...(replay && { replay }),
        timestamp: toTimestamp(now),
      });
    }
  }
}
