import { Injectable, type OnModuleInit } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { CorrelationSettled } from '../correlations/correlation-settled.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { TimerQueue } from './timer-queue.js';

/**
 * The time by which a generation of a correlation must settle. Its timer does not count as pending, and it is removed
 * when the generation settles. Callers lock the correlation, unless it is
 * new, before the timer.
 */
@Injectable()
export class Deadlines implements OnModuleInit {
  constructor(
    private readonly timers: TimerQueue,
    private readonly settled: CorrelationSettled,
  ) {}

  onModuleInit(): void {
    this.settled.add((tx, correlation) => this.drop(tx, correlation));
  }

  /** Sets a deadline (epoch ms), unless the generation has an earlier one. */
  async set(tx: Transaction, correlation: TrackedCorrelation, at: number): Promise<void> {
    if (correlation.deadline_at !== null && correlation.deadline_at <= at) return;
    await this.drop(tx, correlation);
    correlation.deadline_at = at;
    await this.timers.set(tx, 'deadline', at, correlation.id);
  }

  private async drop(tx: Transaction, correlation: TrackedCorrelation): Promise<void> {
    if (correlation.deadline_at === null) return;
    correlation.deadline_at = null;
    await this.timers.cancel(tx, 'deadline', correlation.id);
  }
}
