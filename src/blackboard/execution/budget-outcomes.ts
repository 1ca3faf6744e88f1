import { Injectable } from '@nestjs/common';

import { UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import type { FreeSlotIn } from '../../queue/claimant.js';
import { BudgetReservations } from '../budgets/budget-reservations.js';
import { Usages } from '../budgets/usages.js';
import { CorrelationTracker } from '../correlations/correlation-tracker.js';
import { Backlog } from '../scheduling/backlog.js';
import { Cancellation } from './cancellation.js';
import { EndedExecutions } from './ended-executions.js';
import type { EndingExecution, ExecutionFailure } from './ending-execution.js';
import { releaseLease } from './lease-rows.js';

/** Waiters are woken when others give back budget. The delay is for a process that ended before it could do so. */
const LOOK_FOR_ROOM_AFTER_MS = 30_000;

/**
 * Commits the outcome of attempts for which a budget has no room. The transaction checks the lease, as in Outcomes.
 */
@Injectable()
export class BudgetOutcomes {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly tracker: CorrelationTracker,
    private readonly usages: Usages,
    private readonly reservations: BudgetReservations,
    private readonly cancellation: Cancellation,
    private readonly endedExecutions: EndedExecutions,
    private readonly backlog: Backlog,
    private readonly signals: Signals,
  ) {}

  /** Puts the attempt back into the queue until its budgets have room for its first call. */
  waitForRoom(execution: EndingExecution, freeSlotIn: FreeSlotIn): Promise<'waiting' | 'discarded'> {
    return this.unitOfWork.run(async (tx) => {
      freeSlotIn(tx);
      const changes = this.tracker.begin(tx);
      const mustWait = await this.reservations.isWaiting(tx, changes, execution);
      const availableAt = mustWait ? changes.now + LOOK_FOR_ROOM_AFTER_MS : null;
      if (!(await releaseLease(tx, execution, { state: 'pending', attempt: execution.attempt, availableAt })))
        return 'discarded';
      this.backlog.changed(tx, 1);
      if (availableAt === null) tx.whenVisible(() => this.signals.executionReturned.publishEverywhere(execution.agent));
      else tx.afterCommit(() => this.signals.retryScheduled.publish(availableAt));
      return 'waiting';
    });
  }

  /**
   * Fails an execution that exceeds a budget (`message` says which), cancels the other executions of its correlation,
   * and closes the correlation.
   */
  endWithCorrelation(
    execution: EndingExecution,
    message: string,
    freeSlotIn: FreeSlotIn,
  ): Promise<'failed' | 'discarded'> {
    return this.unitOfWork.run(async (tx) => {
      freeSlotIn(tx);
      const failure: ExecutionFailure = { type: 'budget', message };
      const changes = this.tracker.begin(tx, execution.span);
      const held = await this.cancellation.hold(tx, changes, execution.correlationId);
      const released = await releaseLease(tx, execution, { state: 'failed', endedAt: changes.now, failure });
      if (!released) return this.usages.discard(tx, changes, execution);
      await this.usages.record(tx, changes, execution);
      await this.endedExecutions.failed(tx, changes, execution, released, failure);
      await this.cancellation.cutOff(tx, changes, held, execution);
      await this.endedExecutions.countAttempt(tx, changes.now, execution, released, true);
      await changes.save();
      return 'failed';
    });
  }
}
