import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { CorrelationTracker } from '../correlations/correlation-tracker.js';
import { endingExecution, type ExecutionFailure } from '../execution/ending-execution.js';
import { FailedAttempts } from '../execution/failed-attempts.js';
import { leaseToEnd } from '../execution/lease-rows.js';
import { Backlog } from '../scheduling/backlog.js';
import { findCorrelations, holdWaiting } from './held-rows.js';

/** Fails executions that wait for a claim or for a retry. */
@Injectable()
export class WaitingExecutions {
  constructor(
    private readonly tracker: CorrelationTracker,
    private readonly failedAttempts: FailedAttempts,
    private readonly backlog: Backlog,
  ) {}

  /** Fails those of the executions that still wait. Returns how many. */
  async fail(tx: Transaction, ids: readonly string[], failure: ExecutionFailure): Promise<number> {
    const changes = this.tracker.begin(tx);
    // Correlations are locked before executions, as cancelling and outcomes do.
    const correlations = await changes.getAll(await findCorrelations(tx, ids));
    const locked = new Set(correlations.map(({ id }) => id));
    const waiting = (await holdWaiting(tx, ids)).filter(({ correlation_id }) => locked.has(correlation_id));
    for (const row of waiting) {
      const ending = await endingExecution(tx.db, row, await leaseToEnd(tx, row.id));
      await this.failedAttempts.failWith(tx, changes, ending, failure);
      if (this.backlog.counts(row)) this.backlog.changed(tx, -1);
    }
    await changes.save();
    return waiting.length;
  }
}
