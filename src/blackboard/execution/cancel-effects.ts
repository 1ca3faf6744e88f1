import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { LimitReleases } from '../limits/limit-releases.js';
import { Backlog } from '../scheduling/backlog.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import type { OpenExecution } from './execution-rows.js';

/** Ids in one message between processes, which can have 7,500 bytes. */
const IDS_IN_A_SIGNAL = 100;

/**
 * Does what follows when a transaction cancels executions: they no longer count as waiting, and their due times end. After
 * the commit, their engines are aborted, and others get their turns and places.
 */
@Injectable()
export class CancelEffects {
  constructor(
    private readonly backlog: Backlog,
    private readonly timers: TimerQueue,
    private readonly releases: LimitReleases,
    private readonly signals: Signals,
  ) {}

  /** `executions`: as they were before they were cancelled. Their correlations are locked. */
  async follow(tx: Transaction, executions: readonly OpenExecution[]): Promise<void> {
    const waiting = executions.filter((each) => each.state === 'pending' && this.backlog.counts(each));
    this.backlog.changed(tx, -waiting.length);
    await this.timers.cancelDue(
      tx,
      executions.flatMap(({ id, due_at }) => (due_at === null ? [] : id)),
    );
    const running = executions.filter(({ state }) => state === 'running');
    tx.afterCommit(() => {
      this.releases.turnsFreed(executions);
      this.abortEngines(running.map(({ id }) => id));
      // Clients held these, so no process notices by itself that their places are free.
      const left = running.filter(({ lease_owner }) => lease_owner === null);
      new Set(left.map(({ agent }) => agent)).forEach((agent) => this.signals.executionReady.publish(agent));
      this.releases.noLongerRun(left.map(({ limit_keys }) => limit_keys));
    });
  }

  /** Aborts them in every process. */
  private abortEngines(ids: readonly string[]): void {
    for (let sent = 0; sent < ids.length; sent += IDS_IN_A_SIGNAL)
      this.signals.executionsCancelled.publishEverywhere(ids.slice(sent, sent + IDS_IN_A_SIGNAL));
  }
}
