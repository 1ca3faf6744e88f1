import { Injectable } from '@nestjs/common';

import { DomainError } from '../../common/domain-error.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { Usages } from '../budgets/usages.js';
import { type CorrelationChanges, CorrelationTracker } from '../correlations/correlation-tracker.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { JoinRemoval } from '../joins/join-removal.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { CancelEffects } from './cancel-effects.js';
import { endOpen, holdOpen, type OpenExecution } from './execution-rows.js';

/**
 * Cancels correlations. One transaction ends pending executions, revokes leases, removes timers and waiting artifacts,
 * and closes the correlation. Running engines are aborted after the commit, and nothing waits for them. Their results
 * are discarded, because they have lost their leases.
 */
@Injectable()
export class Cancellation {
  constructor(
    private readonly tracker: CorrelationTracker,
    private readonly usages: Usages,
    private readonly timers: TimerQueue,
    private readonly joinRemoval: JoinRemoval,
    private readonly effects: CancelEffects,
  ) {}

  /**
   * Cancels a correlation. The transaction does not wait for running engines. DomainError: `not_found`, `conflict` (it
   * has already ended).
   */
  async cancel(tx: Transaction, correlationId: string): Promise<void> {
    const changes = this.tracker.begin(tx);
    await this.joinRemoval.hold(tx, [correlationId]);
    const correlation = await changes.find(correlationId);
    if (!correlation) throw new DomainError('not_found', `Correlation not found: ${correlationId}`);
    if (correlation.state !== 'active') {
      throw new DomainError(
        'conflict',
        `Correlation ${correlationId} has already ended (${correlation.state}) and cannot be cancelled`,
      );
    }
    await this.joinRemoval.hold(tx, [correlationId]);
    await this.end(tx, changes, correlation, 'cancelled');
    await changes.save();
  }

  /** Cancels a generation because its deadline has passed, unless it has settled. The caller saves the changes. */
  async cancelOverdue(tx: Transaction, changes: CorrelationChanges, id: string, deadline: number): Promise<void> {
    const correlation = await changes.get(id);
    if (correlation.state !== 'active' || correlation.deadline_at !== deadline) return;
    await this.joinRemoval.hold(tx, [id]);
    await this.end(tx, changes, correlation, 'cancelled', {
      reason: `the deadline passed at ${toTimestamp(deadline)}`,
    });
  }

  /** Cancels every active one of these correlations. */
  async cancelOpen(tx: Transaction, correlationIds: readonly string[]): Promise<void> {
    const changes = this.tracker.begin(tx);
    await this.joinRemoval.hold(tx, correlationIds);
    const correlations = await changes.getAll(correlationIds);
    await this.joinRemoval.hold(tx, correlationIds);
    for (const correlation of correlations) {
      if (correlation.state === 'active') await this.end(tx, changes, correlation, 'cancelled');
    }
    await changes.save();
  }

  /**
   * Locks what `cutOff` needs, in the order of all transactions. Call it before the transaction changes the correlation or
   * one of its executions.
   */
  async hold(tx: Transaction, changes: CorrelationChanges, correlationId: string): Promise<HeldCorrelation> {
    await this.joinRemoval.hold(tx, [correlationId]);
    const correlation = await changes.get(correlationId);
    await this.joinRemoval.hold(tx, [correlationId]);
    return { correlation, open: await holdOpen(tx, correlationId) };
  }

  /**
   * Ends an active correlation like a cancellation, but with the state that its results so far give (`completed` or
   * `failed`). `ended`: the execution that the caller has ended, with its usage, since it locked the others.
   */
  cutOff(
    tx: Transaction,
    changes: CorrelationChanges,
    { correlation, open }: HeldCorrelation,
    ended: { id: string; leaseToken: string },
  ): Promise<void> {
    const left = open.filter(({ id }) => id !== ended.id);
    return this.end(tx, changes, correlation, 'ended', { countedLease: ended.leaseToken, open: left });
  }

  private async end(
    tx: Transaction,
    changes: CorrelationChanges,
    correlation: TrackedCorrelation,
    as: 'cancelled' | 'ended',
    { reason, countedLease, open: held }: Ending = {},
  ): Promise<void> {
    const { id: correlationId } = correlation;
    await this.usages.close(tx, changes, correlationId, countedLease);
    const open = held ?? (await holdOpen(tx, correlationId));
    await endOpen(tx.db, { correlationId, now: changes.now });
    await this.timers.cancelReleases(tx, correlationId);
    await this.effects.follow(tx, open);
    await this.joinRemoval.removeCorrelation(tx, changes, correlationId);
    await changes.end(correlation, as, reason ?? null);
  }
}

/** A correlation with its executions that have not ended, all locked. */
interface HeldCorrelation {
  correlation: TrackedCorrelation;
  open: OpenExecution[];
}

interface Ending {
  reason?: string;
  countedLease?: string;
  /** Its executions that have not ended, if the caller has locked them. */
  open?: readonly OpenExecution[];
}
