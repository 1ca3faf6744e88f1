import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { Usages } from '../budgets/usages.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { LimitReleases } from '../limits/limit-releases.js';
import { Backlog } from '../scheduling/backlog.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { abortEngines } from './abort-signals.js';
import { endAmong, holdOpenAmong, type WhyCancelled } from './execution-rows.js';

/**
 * Cancels executions one by one. The other work of their correlations continues. As when a correlation is cancelled,
 * running engines are aborted after the commit, and their results are discarded.
 */
@Injectable()
export class CancelledExecutions {
  constructor(
    private readonly backlog: Backlog,
    private readonly usages: Usages,
    private readonly timers: TimerQueue,
    private readonly releases: LimitReleases,
    private readonly signals: Signals,
  ) {}

  /** Cancels those that have not ended. The caller saves the changes. */
  async cancel(
    tx: Transaction,
    changes: CorrelationChanges,
    executions: readonly { id: string; correlation_id: string }[],
    why: Partial<WhyCancelled>,
  ): Promise<void> {
    if (executions.length === 0) return;
    // Correlations are locked before executions, as everywhere.
    await changes.getAll([...new Set(executions.map(({ correlation_id }) => correlation_id))]);
    const held = await holdOpenAmong(
      tx,
      executions.map(({ id }) => id),
    );
    if (held.length === 0) return;
    const ids = held.map(({ id }) => id);
    await endAmong(tx.db, { now: changes.now, cancelled_by: null, skipped_for: null, ...why }, ids);
    for (const [correlationId, own] of Map.groupBy(held, ({ correlation_id }) => correlation_id)) {
      await this.usages.abandon(tx, changes, correlationId, own);
      (await changes.get(correlationId)).pending -= own.length;
    }
    this.backlog.changed(tx, -held.filter((each) => each.state === 'pending' && this.backlog.counts(each)).length);
    await this.timers.cancelDue(
      tx,
      held.flatMap(({ id, due_at }) => (due_at === null ? [] : id)),
    );
    const running = held.filter(({ state }) => state === 'running');
    tx.afterCommit(() => {
      this.releases.turnsFreed(held);
      abortEngines(
        this.signals,
        running.map(({ id }) => id),
      );
      // Clients held these, so no process notices by itself that their places are free.
      const left = running.filter(({ lease_owner }) => lease_owner === null);
      new Set(left.map(({ agent }) => agent)).forEach((agent) => this.signals.executionReady.publish(agent));
      this.releases.noLongerRun(left.map(({ limit_keys }) => limit_keys));
    });
  }
}
