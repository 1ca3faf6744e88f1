import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { roomIn } from './budget-room.js';
import { Budgets } from './budgets.js';
import { deleteOfExecutions, findWaiters, makeClaimable, type Waiter } from './reservation-rows.js';
import { ReservedAmounts } from './reserved-amounts.js';

/** Executions that wait in the queue until there is room in a budget. */
@Injectable()
export class BudgetWaiters {
  constructor(
    private readonly budgets: Budgets,
    private readonly signals: Signals,
  ) {}

  /**
   * Makes the waiters claimable that the budget has room for. If there will never be room for one, makes that one
   * claimable, so that it fails.
   */
  async wake(tx: Transaction, changes: CorrelationChanges, correlationId: string): Promise<void> {
    const waiters = await findWaiters(tx.db, { correlationId });
    if (waiters.length === 0) return;
    const woken = await this.chosen(tx, changes, correlationId, waiters);
    const ids = woken.map(({ id }) => id);
    await deleteOfExecutions(tx.db, {}, ids);
    const claimable = await makeClaimable(tx.db, {}, ids);
    for (const agent of new Set(claimable.map((row) => row.agent)))
      tx.whenVisible(() => this.signals.executionReturned.publishEverywhere(agent));
  }

  private async chosen(
    tx: Transaction,
    changes: CorrelationChanges,
    correlationId: string,
    waiters: readonly Waiter[],
  ): Promise<Waiter[]> {
    const reserved = await ReservedAmounts.in(tx, correlationId);
    const woken: Waiter[] = [];
    for (const waiter of waiters) {
      const limits = await this.budgets.of(tx, changes, { agent: waiter.agent, correlationId });
      const rooms = limits.map((limit) => roomIn(limit, reserved.of(limit), waiter));
      if (rooms.includes('short')) {
        if (reserved.areNone) return [waiter];
        continue;
      }
      // No later waiter is woken; otherwise a large call would wait as long as smaller ones arrive.
      if (rooms.includes('taken')) break;
      woken.push(waiter);
      reserved.add(waiter.agent, waiter);
    }
    return woken;
  }
}
