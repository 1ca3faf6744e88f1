import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { toTimestamp } from '../../common/timestamp.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { LiveEvents } from '../../pubsub/live-events.js';
import { Signals } from '../../pubsub/signals.js';
import { BudgetReservations } from '../budgets/budget-reservations.js';
import { BudgetOverrun, hasSpent, Usages } from '../budgets/usages.js';
import { type CorrelationChanges, CorrelationTracker } from '../correlations/correlation-tracker.js';
import { type MatchedArtifact, Publisher } from '../publishing/publisher.js';
import { Backlog } from '../scheduling/backlog.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { WorkflowErrors } from '../scheduling/workflow-errors.js';
import { Cancellation } from './cancellation.js';
import { consume, countActivity } from './ended-rows.js';
import type { EndingExecution, ExecutionFailure } from './ending-execution.js';
import { executionEvent } from './execution-events.js';
import { recordFailedAttempt } from './failed-attempts.js';
import { deferToLease, finishUnderLease, type ReleasedExecution, releaseLease } from './lease-release.js';
import { nextAttemptAt } from './retry.js';

const LONGEST_RETRY_AFTER_MS = 3_600_000;
/** Waiters are woken when others give back budget. The delay is for a process that ended before it could do so. */
const LOOK_FOR_ROOM_AFTER_MS = 30_000;

/**
 * Commits the outcome of an execution in one transaction: its state, consumptions, outputs and what they trigger,
 * counts and settlement. The transaction checks the lease. If it is lost, only the usage is committed and the result is
 * `discarded`.
 */
@Injectable()
export class Outcomes {
  constructor(
    private readonly catalog: Catalog,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly tracker: CorrelationTracker,
    private readonly publisher: Publisher,
    private readonly errors: WorkflowErrors,
    private readonly usages: Usages,
    private readonly reservations: BudgetReservations,
    private readonly cancellation: Cancellation,
    private readonly backlog: Backlog,
    private readonly timers: TimerQueue,
    private readonly signals: Signals,
    private readonly liveEvents: LiveEvents,
  ) {}

  /** Calls `onVisible` when later transactions see the outcome. `failed`: the execution exceeded a budget. */
  complete(
    execution: EndingExecution,
    outputs: MatchedArtifact[],
    onVisible: () => void,
  ): Promise<'completed' | 'failed' | 'discarded'> {
    return this.withinBudget(execution, onVisible, async (tx) => {
      await tx.lock(this.publisher.lockKeys(outputs));
      const now = this.clock.now();
      const changes = this.tracker.begin(tx, now, execution.span);
      const released = await finishUnderLease(changes, tx, execution, { state: 'completed', endedAt: now });
      if (!released) return this.discard(tx, changes, execution);
      await this.usages.spend(tx, changes, execution);
      await consume(tx, execution, released, now);
      await this.dropDue(tx, execution, released);
      this.emitEnded(tx, execution, now, null);
      for (const output of outputs) await this.publisher.store(tx, changes, output);
      await countActivity(tx, execution, now, { failures: 0, artifacts_produced: outputs.length });
      await this.release(changes, execution);
      await changes.save();
      return 'completed';
    });
  }

  /** Schedules the next attempt, or writes a WorkflowError if the failure is final or no attempts are left. */
  failAttempt(
    execution: EndingExecution,
    failure: ExecutionFailure,
    onVisible: () => void,
  ): Promise<'retried' | 'failed' | 'discarded'> {
    return this.withinBudget(execution, onVisible, (tx) => this.failAttemptIn(tx, execution, failure));
  }

  /** Like `failAttempt`, in the caller's transaction. Only for attempts that used nothing of a budget. */
  async failAttemptIn(
    tx: Transaction,
    execution: EndingExecution,
    failure: ExecutionFailure,
  ): Promise<'retried' | 'failed' | 'discarded'> {
    const retry = this.catalog.agent(execution.agent)?.retry;
    if (!retry || failure.isFinal || execution.attempt >= retry.attempts) return this.fail(tx, execution, failure);
    const now = this.clock.now();
    const earliest = now + Math.min(failure.retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
    const availableAt = Math.max(nextAttemptAt(retry, execution.attempt, now, Math.random()), earliest);
    const again = { state: 'pending', attempt: execution.attempt + 1, availableAt } as const;
    const changes = this.tracker.begin(tx, now, execution.span);
    // The usage is counted in the correlation, so it must be locked before the execution. A retry changes nothing else
    // of it.
    if (hasSpent(execution)) await changes.get(execution.correlationId);
    const released = await releaseLease(tx, execution, again);
    if (!released) return this.discard(tx, changes, execution);
    await this.usages.spend(tx, changes, execution);
    await changes.save();
    await recordFailedAttempt(tx, {
      execution_id: execution.id,
      attempt: execution.attempt,
      ...released,
      ended_at: now,
      error_type: failure.type,
      error_message: failure.message,
    });
    this.backlog.changed(tx, 1);
    tx.afterCommit(() => this.signals.retryScheduled.publish(availableAt));
    if (this.liveEvents.areWanted) {
      const why = { error_type: failure.type, retry_at: toTimestamp(availableAt) };
      this.liveEvents.emitAfterCommit(tx, executionEvent('execution_retrying', execution, this.clock.now(), why));
    }
    return 'retried';
  }

  /** Puts the attempt back into the queue until its budgets have room for its first call. */
  waitForBudget(execution: EndingExecution, onVisible: () => void): Promise<'waiting' | 'discarded'> {
    return this.unitOfWork.run(async (tx) => {
      tx.whenVisible(onVisible);
      const now = this.clock.now();
      const mustWait = await this.reservations.isWaiting(tx, this.tracker.begin(tx, now), execution);
      const availableAt = mustWait ? now + LOOK_FOR_ROOM_AFTER_MS : null;
      if (!(await releaseLease(tx, execution, { state: 'pending', attempt: execution.attempt, availableAt })))
        return 'discarded';
      this.backlog.changed(tx, 1);
      if (availableAt === null) tx.whenVisible(() => this.signals.executionReturned.publishEverywhere(execution.agent));
      else tx.afterCommit(() => this.signals.retryScheduled.publish(availableAt));
      return 'waiting';
    });
  }

  /** Fails an execution whose next model call would exceed a budget, and ends its correlation. */
  endWithCorrelation(
    execution: EndingExecution,
    failure: ExecutionFailure,
    onVisible: () => void,
  ): Promise<'failed' | 'discarded'> {
    return this.unitOfWork.run((tx) => {
      tx.whenVisible(onVisible);
      return this.endOverrun(tx, execution, failure);
    });
  }

  /** Records the usage of an attempt that was handed back. Another attempt will commit the outcome. */
  async keepSpent(execution: EndingExecution): Promise<void> {
    if (!hasSpent(execution)) return;
    await this.unitOfWork.run((tx) =>
      this.discard(tx, this.tracker.begin(tx, this.clock.now(), execution.span), execution),
    );
  }

  /**
   * Keeps the lease until `until` (epoch ms) without an owner: a request with its token, or its expiry, ends the
   * attempt.
   */
  deferCompletion(
    { id, leaseToken }: EndingExecution,
    until: number,
    onVisible: () => void,
  ): Promise<'deferred' | 'discarded'> {
    return this.unitOfWork.run(async (tx) => {
      tx.whenVisible(onVisible);
      const [deferred] = await deferToLease(tx.db, { id, leaseToken, until });
      if (!deferred) return 'discarded';
      tx.afterCommit(() => this.signals.leaseDeferred.publish(until));
      return 'deferred';
    });
  }

  /** Fails an execution in the caller's transaction; no attempt follows. */
  async fail(tx: Transaction, execution: EndingExecution, failure: ExecutionFailure): Promise<'failed' | 'discarded'> {
    const changes = this.tracker.begin(tx, this.clock.now(), execution.span);
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
    if (!released) return this.discard(tx, changes, execution);
    await this.usages.spend(tx, changes, execution);
    await this.writeFailure(tx, changes, execution, released, failure);
    await this.release(changes, execution);
    return 'failed';
  }

  /** Runs `commit`. If it exceeds a budget, rolls it back and ends the correlation instead. */
  private async withinBudget<T>(
    execution: EndingExecution,
    onVisible: () => void,
    commit: (tx: Transaction) => Promise<T>,
  ): Promise<T | 'failed' | 'discarded'> {
    const run = <R>(work: (tx: Transaction) => Promise<R>): Promise<R> =>
      this.unitOfWork.run((tx) => {
        tx.whenVisible(onVisible);
        return work(tx);
      });
    try {
      return await run(commit);
    } catch (error) {
      if (!(error instanceof BudgetOverrun)) throw error;
      // A second transaction, because ending the correlation needs locks that must be taken before the correlation's.
      return run((tx) => this.endOverrun(tx, execution, { type: 'budget', message: error.message }));
    }
  }

  /**
   * Fails the execution that exceeded a budget, cancels the other executions of its correlation, and closes the
   * correlation.
   */
  private async endOverrun(
    tx: Transaction,
    execution: EndingExecution,
    failure: ExecutionFailure,
  ): Promise<'failed' | 'discarded'> {
    const changes = this.tracker.begin(tx, this.clock.now(), execution.span);
    const correlation = await this.cancellation.hold(tx, changes, execution.correlationId);
    const released = await releaseLease(tx, execution, { state: 'failed', endedAt: changes.now, failure });
    if (!released) return this.discard(tx, changes, execution);
    await this.usages.record(tx, changes, execution);
    await this.writeFailure(tx, changes, execution, released, failure);
    await this.cancellation.cutOff(tx, changes, correlation, execution.leaseToken);
    await changes.save();
    return 'failed';
  }

  /** The outcome is dropped because the lease was lost, but the usage still counts. */
  private async discard(
    tx: Transaction,
    changes: CorrelationChanges,
    execution: EndingExecution,
  ): Promise<'discarded'> {
    if (!hasSpent(execution)) return 'discarded';
    await this.usages.recordOnce(tx, changes, execution);
    await changes.save();
    return 'discarded';
  }

  private async writeFailure(
    tx: Transaction,
    changes: CorrelationChanges,
    execution: EndingExecution,
    released: ReleasedExecution,
    failure: ExecutionFailure,
  ): Promise<void> {
    await consume(tx, execution, released, changes.now);
    await this.dropDue(tx, execution, released);
    this.emitEnded(tx, execution, changes.now, failure);
    await this.errors.write(tx, changes, {
      agent: execution.agent,
      errorType: failure.type,
      message: failure.message,
      correlationId: execution.correlationId,
      executionId: execution.id,
      attempts: execution.attempt,
      inputArtifactIds: execution.inputs.map(({ id }) => id),
      silent: execution.direct,
    });
    await countActivity(tx, execution, changes.now, { failures: 1, artifacts_produced: 1 });
  }

  /** Locks the timer after the correlation, in the same order as the code that sets it. */
  private async dropDue(tx: Transaction, { id }: EndingExecution, { due_at }: ReleasedExecution): Promise<void> {
    if (due_at !== null) await this.timers.cancel(tx, 'due', id);
  }

  private emitEnded(tx: Transaction, execution: EndingExecution, now: number, failure: ExecutionFailure | null): void {
    if (!this.liveEvents.areWanted) return;
    const { id: execution_id, agent: consumer, correlationId: correlation_id } = execution;
    for (const artifact_id of new Set(execution.inputs.map(({ id }) => id))) {
      this.liveEvents.emitAfterCommit(tx, {
        event_type: 'artifact_consumed',
        artifact_id,
        consumer,
        execution_id,
        correlation_id,
        timestamp: toTimestamp(now),
      });
    }
    const ended = failure
      ? executionEvent('execution_failed', execution, now, { error_type: failure.type })
      : executionEvent('execution_succeeded', execution, now);
    this.liveEvents.emitAfterCommit(tx, ended);
  }

  // The last step, so that a correlation settles only after everything that the outcome triggered counts as pending.
  private async release(changes: CorrelationChanges, execution: EndingExecution): Promise<void> {
    (await changes.get(execution.correlationId)).pending -= 1;
  }
}
