import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { locking } from '../../database/dialects/dialect.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { type Amount, roomIn } from './budget-room.js';
import { Budgets } from './budgets.js';
import { ReservedAmounts } from './reserved-amounts.js';

/** The most waiters that are read at a time. A budget hardly ever has room for more. */
const AT_ONCE = 100;

interface Waiter extends Amount {
  id: string;
  agent: string;
}

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
    await drop(tx.db, {}, ids);
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

/** Ordered by the age of their executions, oldest first. */
const findWaiters = prepared<{ correlationId: string }, Waiter>((db, place) =>
  db
    .selectFrom('budget_reservations as waiting')
    .innerJoin('executions', 'executions.id', 'waiting.execution_id')
    .select(['executions.id', 'waiting.agent', 'waiting.tokens', 'waiting.cost'])
    .where('waiting.correlation_id', '=', place('correlationId'))
    .where('waiting.waits', '=', sql.lit(1))
    .orderBy('executions.seq')
    .limit(AT_ONCE),
);

const drop = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db.deleteFrom('budget_reservations').where('execution_id', 'in', ids),
);

/** An execution that still runs is not changed: before it is handed back, it checks whether it still has to wait. */
const makeClaimable = preparedWithList<object, string, { agent: string }>((db, _place, ids) => {
  // Written like `isInState` in queue/state-predicate.ts, for the same reason.
  const waiting = db
    .selectFrom('executions')
    .select('id')
    .where('id', 'in', ids)
    .where(sql<boolean>`coalesce(state, '') = 'pending'`);
  return db
    .updateTable('executions')
    .set({ available_at: null })
    .where('id', 'in', locking(db, waiting, { wait: false }))
    .returning('agent');
});
