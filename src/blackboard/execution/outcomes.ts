import { Injectable } from '@nestjs/common';

import { BASE } from '../../catalog/variants.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import type { FreeSlotIn } from '../../queue/claimant.js';
import { BudgetOverrun, hasSpent, Usages } from '../budgets/usages.js';
import { type CorrelationChanges, CorrelationTracker } from '../correlations/correlation-tracker.js';
import { hasBreaker } from '../limits/breakers.js';
import { areFewAndShort, type MatchedArtifact, MatchedArtifacts } from '../publishing/matched-artifacts.js';
import { BudgetOutcomes } from './budget-outcomes.js';
import { EndedExecutions } from './ended-executions.js';
import type { EndingExecution, ExecutionFailure } from './ending-execution.js';
import { FailedAttempts } from './failed-attempts.js';
import { deferToLease, finishUnderLease } from './lease-rows.js';

/** The lease of the attempt has expired or was revoked, so its outcome is rolled back. */
class LeaseLost extends Error {}

/**
 * Commits the outcome of an attempt in one transaction: the execution's state, consumptions, outputs and what they
 * trigger, counts and settlement. The transaction checks the lease. If it is lost, only the usage is committed and the
 * result is `discarded`. If the outcome exceeds a budget, the result is `failed`. `freeSlotIn` is that of
 * ClaimHolder.
 */
@Injectable()
export class Outcomes {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly tracker: CorrelationTracker,
    private readonly artifacts: MatchedArtifacts,
    private readonly usages: Usages,
    private readonly budgetOutcomes: BudgetOutcomes,
    private readonly endedExecutions: EndedExecutions,
    private readonly failedAttempts: FailedAttempts,
    private readonly signals: Signals,
  ) {}

  async complete(
    execution: EndingExecution,
    outputs: MatchedArtifact[],
    freeSlotIn: FreeSlotIn,
  ): Promise<'completed' | 'failed' | 'discarded'> {
    try {
      const names = this.artifacts.lockKeys(outputs);
      const kind = names.length === 0 && isSmall(execution, outputs) ? 'completed' : undefined;
      return await this.within(execution, freeSlotIn, kind, (tx) => this.completeUnderLease(tx, execution, outputs));
    } catch (error) {
      if (!(error instanceof LeaseLost)) throw error;
      return this.discard(execution, freeSlotIn);
    }
  }

  /** Throws LeaseLost; the caller then rolls the transaction back. */
  private async completeUnderLease(
    tx: Transaction,
    execution: EndingExecution,
    outputs: MatchedArtifact[],
  ): Promise<'completed'> {
    await tx.lock(this.artifacts.lockKeys(outputs));
    const changes = this.tracker.begin(tx, execution.span);
    await this.completeWith(tx, changes, execution, outputs);
    await changes.save();
    return 'completed';
  }

  /** The caller has locked the names of the outputs, and saves the changes. Throws LeaseLost. */
  async completeWith(
    tx: Transaction,
    changes: CorrelationChanges,
    execution: EndingExecution,
    outputs: MatchedArtifact[],
  ): Promise<void> {
    const ending = { state: 'completed', endedAt: changes.now } as const;
    // The outputs are stored before it is known whether the lease is held, because that saves a round trip.
    const [released, artifacts] = await Promise.all([
      finishUnderLease(changes, tx, execution, ending),
      this.artifacts.insertOutputs(tx, outputs),
    ]);
    if (!released) throw new LeaseLost();
    await this.usages.spend(tx, changes, execution);
    await this.endedExecutions.completed(tx, changes, execution, released, outputs.length);
    const correlation = await changes.get(execution.correlationId);
    await this.artifacts.trigger(tx, changes, correlation, artifacts);
    await this.endedExecutions.countAttempt(tx, changes.now, execution, released, false);
    correlation.pending -= 1;
  }

  /**
   * Runs `commit` in a transaction. If it exceeds a budget, rolls it back and ends the correlation instead. `kind`: of
   * the transactions of other correlations that it may run with.
   */
  private async within<T>(
    execution: EndingExecution,
    freeSlotIn: FreeSlotIn,
    kind: string | undefined,
    commit: (tx: Transaction) => Promise<T>,
  ): Promise<T | 'failed' | 'discarded'> {
    try {
      const how = kind === undefined ? {} : { group: { kind, key: execution.correlationId } };
      return await this.unitOfWork.run((tx) => {
        freeSlotIn(tx);
        return commit(tx);
      }, how);
    } catch (error) {
      if (!(error instanceof BudgetOverrun)) throw error;
      // A second transaction, because ending the correlation needs locks that must be taken before the correlation's.
      return this.budgetOutcomes.endWithCorrelation(execution, error.message, freeSlotIn);
    }
  }

  /** Records only the usage. */
  private discard(execution: EndingExecution, freeSlotIn: FreeSlotIn): Promise<'discarded'> {
    return this.unitOfWork.run((tx) => {
      freeSlotIn(tx);
      return this.usages.discard(tx, this.tracker.begin(tx, execution.span), execution);
    });
  }

  /** Schedules the next attempt, or writes a WorkflowError if the failure is final or no attempts are left. */
  failAttempt(
    execution: EndingExecution,
    failure: ExecutionFailure,
    freeSlotIn: FreeSlotIn,
  ): Promise<'retried' | 'failed' | 'discarded'> {
    return this.within(execution, freeSlotIn, undefined, (tx) =>
      this.failedAttempts.failAttempt(tx, execution, failure),
    );
  }

  /** Records the usage of an attempt that was handed back. Another attempt will commit the outcome. */
  async keepSpent(execution: EndingExecution): Promise<void> {
    if (hasSpent(execution)) await this.discard(execution, () => undefined);
  }

  /**
   * Keeps the lease until `until` (epoch ms) without an owner: a request with its token, or its expiry, ends the
   * attempt.
   */
  deferCompletion(
    { id, leaseToken }: EndingExecution,
    until: number,
    freeSlotIn: FreeSlotIn,
  ): Promise<'deferred' | 'discarded'> {
    return this.unitOfWork.run(async (tx) => {
      freeSlotIn(tx);
      const [deferred] = await deferToLease(tx.db, { id, leaseToken, until });
      if (!deferred) return 'discarded';
      tx.afterCommit(() => this.signals.leaseDeferred.publish(until));
      return 'deferred';
    });
  }
}

/**
 * Whether the outcome shares its transaction with others: its usage, its answer, or many outputs, would make the others wait,
 * and executions with the same breaker or variant change the same row.
 */
const isSmall = (execution: EndingExecution, outputs: readonly MatchedArtifact[]): boolean =>
  !hasSpent(execution) &&
  !execution.cache &&
  !hasBreaker(execution.limitKeys) &&
  (execution.variant ?? BASE) === BASE &&
  outputs.every(({ releaseAt }) => releaseAt === null) &&
  areFewAndShort(outputs.map(({ draft }) => draft));
