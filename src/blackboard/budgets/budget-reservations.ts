import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import type { ModelNeed } from '../../engines/engine.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { type Amount, type Limit, roomIn, shortage } from './budget-room.js';
import { BudgetWaiters } from './budget-waiters.js';
import { Budgets } from './budgets.js';
import {
  deleteAllOf,
  deleteOfExecution,
  deleteOfExecutions,
  deleteOfLease,
  findCalls,
  findCallsOfLostLeases,
  findRunningUnderLease,
  findWaiting,
  putReservation,
  type ReservedCall,
  setToZero,
} from './reservation-rows.js';
import { ReservedAmounts } from './reserved-amounts.js';

/** The execution that makes the call. */
export interface Caller {
  id: string;
  agent: string;
  correlationId: string;
  leaseToken: string;
}

/** `lost`: the caller no longer has the lease. `waits`: other calls must end first. `short`: there will be no room. */
export type Reservation = { is: 'made' } | { is: 'lost' } | { is: 'waits' } | { is: 'short'; message: string };

/**
 * Reserves the most that a model call can use, in every budget that applies, before the call is made. A reservation
 * belongs to the lease of its execution and is void without it. The methods run while the transaction has locked the
 * correlation, so that two calls of different processes never get the same room.
 */
@Injectable()
export class BudgetReservations {
  constructor(
    private readonly budgets: Budgets,
    private readonly waiters: BudgetWaiters,
  ) {}

  /**
   * `waitsInQueue`: the execution has made no call yet. If it must wait, it becomes claimable again when others give
   * back their reservations. Otherwise the execution waits in place, and only for calls that are running, so that two
   * executions never wait for each other.
   */
  async make(
    tx: Transaction,
    changes: CorrelationChanges,
    caller: Caller,
    call: ModelNeed,
    waitsInQueue: boolean,
  ): Promise<Reservation> {
    const need = amountOf(call);
    const { id, agent, correlationId, leaseToken } = caller;
    await changes.get(correlationId);
    const [held] = await findRunningUnderLease(tx.db, { id, leaseToken });
    if (!held) return { is: 'lost' };
    const reserved = await ReservedAmounts.in(tx, correlationId, id);
    const limits = await this.budgets.of(tx, changes, caller);
    const rooms = limits.map((limit) => roomIn(limit, reserved.of(limit), need));
    const isFree = rooms.every((room) => room === 'free');
    // Failing now would end the correlation while other calls are running, and their cost would be wasted.
    const areOthersDone = waitsInQueue ? reserved.areNone : !reserved.areForCalls;
    if (rooms.includes('short') && areOthersDone) return { is: 'short', message: whyShort(limits, need) };
    if (isFree || waitsInQueue) {
      await putReservation(tx.db, {
        execution_id: id,
        lease_token: leaseToken,
        correlation_id: correlationId,
        agent,
        ...need,
        input_tokens: call.inputTokens,
        model: call.model,
        waits: isFree ? 0 : 1,
      });
    }
    return isFree ? { is: 'made' } : { is: 'waits' };
  }

  /**
   * Removes and returns the reservations of lost leases, except those of `exceptLease`. Their processes were killed, or
   * handed the executions back.
   */
  async takeLost(tx: Transaction, correlationId: string, exceptLease: string): Promise<ReservedCall[]> {
    const lost = await findCallsOfLostLeases(tx.db, { correlationId, exceptLease });
    for (const { id, leaseToken } of lost) await deleteOfLease(tx.db, { id, leaseToken });
    return lost.filter(isForCall);
  }

  /** A call has ended. Its usage has been counted before. */
  async settle(tx: Transaction, changes: CorrelationChanges, { id, correlationId, leaseToken }: Caller): Promise<void> {
    await setToZero(tx.db, { id, leaseToken });
    await this.waiters.wake(tx, changes, correlationId);
  }

  /**
   * The attempt has ended. Its usage has been counted before. `itsOwn`: remove only the reservation of this lease,
   * because another process may run the execution by now.
   */
  async giveBack(
    tx: Transaction,
    changes: CorrelationChanges,
    { id, correlationId, leaseToken }: Caller,
    { itsOwn = false } = {},
  ): Promise<void> {
    await (itsOwn ? deleteOfLease(tx.db, { id, leaseToken }) : deleteOfExecution(tx.db, { id }));
    await this.waiters.wake(tx, changes, correlationId);
  }

  /** These executions of the correlation no longer make calls or wait for room. */
  async drop(
    tx: Transaction,
    changes: CorrelationChanges,
    correlationId: string,
    executionIds: readonly string[],
  ): Promise<void> {
    await deleteOfExecutions(tx.db, {}, executionIds);
    await this.waiters.wake(tx, changes, correlationId);
  }

  /** Whether the execution must still wait for room. */
  async isWaiting(
    tx: Transaction,
    changes: CorrelationChanges,
    { id, correlationId }: Pick<Caller, 'id' | 'correlationId'>,
  ): Promise<boolean> {
    await changes.get(correlationId);
    return (await findWaiting(tx.db, { id })).length > 0;
  }

  /**
   * Removes all reservations of a correlation that is about to be closed, including those that wait. Returns those of
   * calls, except `exceptLease`.
   */
  async takeAll(tx: Transaction, correlationId: string, exceptLease: string): Promise<ReservedCall[]> {
    if (!this.budgets.exist) return [];
    const calls = await findCalls(tx.db, { correlationId, exceptLease });
    await deleteAllOf(tx.db, { correlationId });
    return calls.filter(isForCall);
  }
}

const whyShort = (limits: readonly Limit[], need: Amount): string =>
  limits.map((limit) => shortage(limit, need)).find((why) => why !== null)!;

const amountOf = ({ inputTokens, outputTokens, cost }: ModelNeed): Amount => ({
  tokens: inputTokens + outputTokens,
  cost: cost ?? 0,
});

/** False between two calls, when the attempt has nothing reserved. */
const isForCall = ({ tokens }: ReservedCall): boolean => Number(tokens) > 0;
