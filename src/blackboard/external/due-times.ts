import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { externalWork } from '../../engines/external/external-work.js';
import { LiveEvents } from '../../pubsub/live-events.js';
import { Signals } from '../../pubsub/signals.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { endingExecution } from '../execution/ending-execution.js';
import { FailedAttempts } from '../execution/failed-attempts.js';
import { leaseToEnd } from '../execution/lease-rows.js';
import { LimitReleases } from '../limits/limit-releases.js';
import { Backlog } from '../scheduling/backlog.js';
import { escalate, holdOverdue, type Overdue } from './external-rows.js';

/** Escalates or fails overdue executions of external agents, according to the current configuration of the agent. */
@Injectable()
export class DueTimes {
  constructor(
    private readonly catalog: Catalog,
    private readonly failedAttempts: FailedAttempts,
    private readonly backlog: Backlog,
    private readonly releases: LimitReleases,
    private readonly signals: Signals,
    private readonly liveEvents: LiveEvents,
  ) {}

  /** The caller has locked the correlation, and ends the timer. */
  async passed(tx: Transaction, changes: CorrelationChanges, id: string, dueAt: number): Promise<void> {
    const execution = await holdOverdue(tx, id);
    const isOpen = execution?.state === 'pending' || execution?.state === 'running';
    // A retry by a client sets another due time.
    if (!isOpen || execution.due_at !== dueAt) return;
    const due = externalWork(this.catalog.agent(execution.queue))?.due;
    if (!due) return;
    if (due.then === 'escalate') await this.escalate(tx, execution, due.to, changes.now);
    else await this.fail(tx, changes, execution);
    // Clients may wait for an execution of the new assignee, or for a free place within the agent's concurrency.
    tx.afterCommit(() => this.signals.executionReady.publish(execution.queue));
  }

  /** Does not touch the lease: a client that has claimed the execution keeps it. */
  private async escalate(
    tx: Transaction,
    { id, queue: agent, correlation_id, replay }: Overdue,
    assignee: string,
    now: number,
  ): Promise<void> {
    await escalate(tx, id, assignee, now);
    if (!this.liveEvents.areWanted) return;
    this.liveEvents.emitAfterCommit(tx, {
      event_type: 'execution_escalated',
      execution_id: id,
      agent,
      assignee,
      correlation_id,
      ...(replay > 0 && { replay: true }),
      timestamp: toTimestamp(now),
    });
  }

  private async fail(tx: Transaction, changes: CorrelationChanges, execution: Overdue): Promise<void> {
    const { id, state, lease_token, claimed_by } = execution;
    const isClaimed = state === 'running';
    if (!isClaimed) this.backlog.changed(tx, -1);
    const ending = await endingExecution(tx.db, execution, isClaimed ? lease_token! : await leaseToEnd(tx, id));
    const reason = isClaimed
      ? `${claimed_by ?? 'its claimant'} did not end it in time`
      : 'no client claimed it in time';
    const message = `it was due at ${toTimestamp(execution.due_at!)}: ${reason}`;
    await this.failedAttempts.failWith(tx, changes, ending, { type: 'overdue', message });
    if (isClaimed) tx.afterCommit(() => this.releases.noLongerRun([ending.limitKeys]));
  }
}
