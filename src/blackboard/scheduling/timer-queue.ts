import { Injectable } from '@nestjs/common';

import { newId } from '../../common/ids.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import {
  deleteDueTimers,
  deleteFiredTimer,
  deleteReleases,
  deleteTimer,
  insertTimers,
  type Timer,
} from './timer-rows.js';
import { WaitingArrivals } from './waiting-arrivals.js';

/**
 * Durable timers, which survive a restart. Callers count a timer as pending in the correlations that it keeps active.
 */
@Injectable()
export class TimerQueue {
  constructor(
    private readonly signals: Signals,
    private readonly arrivals: WaitingArrivals,
  ) {}

  async set(tx: Transaction, kind: Exclude<Timer['kind'], 'release'>, dueAt: number, subject: string): Promise<void> {
    await this.insert(tx, { kind, due_at: dueAt, subject, correlation_id: null });
  }

  /** Releases the artifact at a position to its subscriptions at `dueAt` (epoch ms). */
  async setRelease(tx: Transaction, dueAt: number, seq: number, correlationId: string): Promise<void> {
    await this.insert(tx, { kind: 'release', due_at: dueAt, subject: String(seq), correlation_id: correlationId });
    this.arrivals.changed(tx, 1);
  }

  /**
   * Removes a timer that fires. False if another transaction has removed it before; then its work must not run again.
   */
  async end(tx: Transaction, timer: Timer): Promise<boolean> {
    const isOurs = await deleteFiredTimer(tx, timer);
    if (isOurs && timer.kind === 'release') this.arrivals.changed(tx, -1);
    return isOurs;
  }

  async cancel(tx: Transaction, kind: Timer['kind'], subject: string): Promise<void> {
    await deleteTimer(tx.db, { kind, subject });
  }

  /** Cancels the `due` timers of these executions. */
  async cancelDue(tx: Transaction, executionIds: readonly string[]): Promise<void> {
    await deleteDueTimers(tx.db, {}, executionIds);
  }

  /** Cancels the releases of this correlation's artifacts, so that they trigger nothing. */
  async cancelReleases(tx: Transaction, correlationId: string): Promise<void> {
    this.arrivals.changed(tx, -(await deleteReleases(tx, correlationId)));
  }

  private async insert(tx: Transaction, timer: Omit<Timer, 'id' | 'failures' | 'was_due_at'>): Promise<void> {
    await insertTimers(tx.db, [{ id: newId(), ...timer }]);
    tx.afterCommit(() => this.signals.timerSet.publish(timer.due_at));
  }
}
