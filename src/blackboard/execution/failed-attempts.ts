import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { random } from '../../common/random.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { LiveEvents } from '../../pubsub/live-events.js';
import { Signals } from '../../pubsub/signals.js';
import { hasSpent, Usages } from '../budgets/usages.js';
import { type CorrelationChanges, CorrelationTracker } from '../correlations/correlation-tracker.js';
import { Backlog } from '../scheduling/backlog.js';
import { countRetry } from './activity-event-rows.js';
import { EndedExecutions } from './ended-executions.js';
import { recordFailedAttempt } from './ended-rows.js';
import type { EndingExecution, ExecutionFailure } from './ending-execution.js';
import { executionEvent } from './execution-events.js';
import { finishUnderLease, releaseLease } from './lease-rows.js';
import { nextAttemptAt } from './retry.js';

const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * Ends an attempt that failed, in the caller's transaction. Each method checks the lease; if it is lost, only the usage
 * is recorded and the result is `discarded`.
 */
@Injectable()
export class FailedAttempts {
  constructor(
    private readonly catalog: Catalog,
    private readonly tracker: CorrelationTracker,
    private readonly usages: Usages,
    private readonly endedExecutions: EndedExecutions,
    private readonly backlog: Backlog,
    private readonly signals: Signals,
    private readonly liveEvents: LiveEvents,
  ) {}

  /**
   * Schedules the next attempt, or fails the execution if the failure is final or no attempts are left. Throws
   * BudgetOverrun.
   */
  async failAttempt(
    tx: Transaction,
    execution: EndingExecution,
    failure: ExecutionFailure,
  ): Promise<'retried' | 'failed' | 'discarded'> {
    const retry = this.catalog.agent(execution.agent)?.retry;
    if (!retry || failure.isFinal || execution.attempt >= retry.attempts) return this.fail(tx, execution, failure);
    const changes = this.tracker.begin(tx, execution.span);
    const { now } = changes;
    const earliest = now + Math.min(failure.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
    const availableAt = Math.max(nextAttemptAt(retry, execution.attempt, now, random.number()), earliest);
    // The usage is counted in the correlation, so it must be locked before the execution. A retry changes nothing else
    // of it.
    if (hasSpent(execution)) await changes.get(execution.correlationId);
    const again = { state: 'pending', attempt: execution.attempt + 1, availableAt } as const;
    const released = await releaseLease(tx, execution, again);
    if (!released) return this.usages.discard(tx, changes, execution);
    await this.usages.spend(tx, changes, execution);
    await changes.save();
    await recordFailedAttempt(tx, {
      execution_id: execution.id,
      attempt: execution.attempt,
      ...released,
      ended_at: now,
      error_type: failure.type,
      error_message: failure.message,
      error_cause: failure.details?.cause ?? null,
      error_stack: failure.details?.stack ?? null,
    });
    await this.endedExecutions.countAttempt(tx, now, execution, released, true);
    await countRetry(tx, execution, now);
    this.backlog.changed(tx, 1);
    tx.afterCommit(() => this.signals.retryScheduled.publish(availableAt));
    if (this.liveEvents.areWanted) {
      const why = { error_type: failure.type, retry_at: toTimestamp(availableAt) };
      this.liveEvents.emitAfterCommit(tx, executionEvent('execution_retrying', execution, now, why));
    }
    return 'retried';
  }

  /** Fails the execution; no attempt follows. Throws BudgetOverrun. */
  async fail(tx: Transaction, execution: EndingExecution, failure: ExecutionFailure): Promise<'failed' | 'discarded'> {
    const changes = this.tracker.begin(tx, execution.span);
    const outcome = await this.failWith(tx, changes, execution, failure);
    if (outcome === 'failed') await changes.save();
    return outcome;
  }

  /** Like `fail`, but the caller saves the changes to the correlation. */
  async failWith(
    tx: Transaction,
    changes: CorrelationChanges,
    execution: EndingExecution,
    failure: ExecutionFailure,
  ): Promise<'failed' | 'discarded'> {
    const released = await finishUnderLease(changes, tx, execution, { state: 'failed', endedAt: changes.now, failure });
    if (!released) return this.usages.discard(tx, changes, execution);
    await this.usages.spend(tx, changes, execution);
    await this.endedExecutions.failed(tx, changes, execution, released, failure);
    await this.endedExecutions.countAttempt(tx, changes.now, execution, released, true);
    (await changes.get(execution.correlationId)).pending -= 1;
    return 'failed';
  }
}
