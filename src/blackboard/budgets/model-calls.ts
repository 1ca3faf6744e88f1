import { Inject, Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { isUnavailable } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { ModelNeed } from '../../engines/engine.js';
import { EngineFailure } from '../../engines/engine-answers.js';
import type { Span } from '../../observability/tracing/tracing.js';
import { CorrelationTracker } from '../correlations/correlation-tracker.js';
import { BudgetReservations, type Reservation } from './budget-reservations.js';
import type { ModelMeter } from './model-meter.js';
import { type Spender, Usages } from './usages.js';

/** Calls of models take seconds, so looking more often would not help. */
const LOOK_AGAIN_MS = 1_000;

/** A running attempt, whose model calls reserve their budget. */
export interface CallingExecution extends Spender {
  span: Span;
  meter: ModelMeter;
  hasReserved: boolean;
  /**
   * Why the attempt must end without an answer: its first call must wait, or a budget is exceeded. Null while it may
   * continue.
   */
  shortfall: Shortfall | null;
}

export type Shortfall = Extract<Reservation, { is: 'waits' | 'short' }>;

/** Reserves and settles the budget of an attempt's model calls. */
@Injectable()
export class ModelCalls {
  /** Attempts with an ended call whose usage could not be stored. Their next reservation takes the place of that call's. */
  private readonly unstored = new WeakSet<CallingExecution>();

  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly tracker: CorrelationTracker,
    private readonly reservations: BudgetReservations,
    private readonly usages: Usages,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Implements `EngineContext.reserve`. Before its first call an attempt loses nothing by starting again, so it waits
   * in the queue and frees its slot. Later calls wait in place, until the attempt's time limit.
   */
  async reserve(execution: CallingExecution, need: ModelNeed, signal: AbortSignal): Promise<void> {
    const isFirst = !execution.hasReserved;
    execution.hasReserved = true;
    for (;;) {
      signal.throwIfAborted();
      const reservation = await this.tryToReserve(execution, need, isFirst);
      if (reservation?.is === 'made') {
        // An aborted attempt does not make the call; its outcome gives the reservation back.
        signal.throwIfAborted();
        return execution.meter.begins(need);
      }
      if (reservation?.is === 'lost') throw new EngineFailure('budget', 'another process has taken over the execution');
      if (reservation && (isFirst || reservation.is === 'short')) {
        execution.shortfall = reservation;
        throw new EngineFailure(
          'budget',
          reservation.is === 'short' ? reservation.message : 'its budget has no room now',
        );
      }
      await this.clock.sleep(LOOK_AGAIN_MS);
    }
  }

  /**
   * Implements `EngineContext.settle`. If the usage cannot be stored now, it is stored with the next reservation or with the
   * outcome.
   */
  async settle(execution: CallingExecution, end: 'answered' | 'refused'): Promise<void> {
    execution.meter.settled(end);
    try {
      const overrun = await this.unitOfWork.run(async (tx) => {
        const changes = this.tracker.begin(tx, execution.span);
        const found = await this.usages.settle(tx, changes, execution);
        await changes.save();
        return found;
      });
      if (overrun !== null) execution.shortfall = { is: 'short', message: overrun };
    } catch (error) {
      this.unstored.add(execution);
      this.logger.warn(
        { err: error, execution_id: execution.id },
        'the usage of a model call could not be stored; trying again with the next call or the outcome',
      );
    }
  }

  /** Null if the database cannot be written to now. */
  private async tryToReserve(
    execution: CallingExecution,
    need: ModelNeed,
    isFirst: boolean,
  ): Promise<Reservation | null> {
    try {
      return await this.unitOfWork.run(async (tx) => {
        const changes = this.tracker.begin(tx, execution.span);
        const isUnstored = this.unstored.has(execution);
        const overrun = isUnstored ? await this.usages.settle(tx, changes, execution) : null;
        const hasLost = await this.usages.settleLost(tx, changes, execution.correlationId);
        const reservation: Reservation =
          overrun === null
            ? await this.reservations.make(tx, changes, execution, need, isFirst)
            : { is: 'short', message: overrun };
        if (hasLost || isUnstored) await changes.save();
        tx.afterCommit(() => this.unstored.delete(execution));
        return reservation;
      });
    } catch (error) {
      if (!isUnavailable(error)) throw error;
      return null;
    }
  }
}
