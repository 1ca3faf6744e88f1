import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { Settings } from '../../config/settings.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import { Signals } from '../../pubsub/signals.js';
import { type LostRow, RowLeases } from '../../queue/row-leases.js';
import { LimitReleases } from '../limits/limit-releases.js';
import { Processes } from '../processes/processes.js';
import { endingExecution } from './ending-execution.js';
import { FailedAttempts } from './failed-attempts.js';
import { type ExecutionRow, EXECUTIONS } from './leased-executions.js';

/** The leases of running executions. Fails executions that have lost their lease too often. */
@Injectable()
export class Leases {
  readonly rows: RowLeases<ExecutionRow>;

  constructor(
    settings: Settings,
    private readonly catalog: Catalog,
    processes: Processes,
    clock: Clock,
    unitOfWork: UnitOfWork,
    private readonly failedAttempts: FailedAttempts,
    private readonly releases: LimitReleases,
    private readonly signals: Signals,
  ) {
    const holder = {
      owner: processes.own,
      leaseMs: settings.leaseMs,
      isOver: (lost: LostRow<ExecutionRow>) => this.isDeferred(lost),
      // Only a process with the agent's configuration knows what a lost lease means for the attempt.
      leftToOthers: async () => (await processes.known()).agentsElsewhere,
      giveUp: (tx: Transaction, lost: LostRow<ExecutionRow>) => this.giveUp(tx, lost),
      returned: (agent: string, lost?: ExecutionRow) => {
        signals.executionReturned.publishEverywhere(agent);
        // Its agent may be paused, or it may be due, so others may take its place.
        if (lost) releases.noLongerRun([lost.limit_keys]);
      },
    };
    this.rows = new RowLeases(EXECUTIONS, holder, clock, unitOfWork);
  }

  /** Whether the lease belonged to a remote agent that deferred its completion. Its timeout has passed then. */
  private isDeferred({ queue, lease_owner }: LostRow<ExecutionRow>): boolean {
    const agent = this.catalog.agent(queue);
    return lease_owner === null && agent !== undefined && !isExternal(agent);
  }

  private async giveUp(tx: Transaction, lost: LostRow<ExecutionRow>): Promise<void> {
    tx.afterCommit(() => this.releases.noLongerRun([lost.limit_keys]));
    if (this.isDeferred(lost)) return this.failLate(tx, lost);
    const holder = isExternal(this.catalog.agent(lost.queue))
      ? 'its claimants sent neither a result nor a heartbeat in time'
      : 'the process that ran it ended, or could not store its outcome';
    await this.failedAttempts.fail(tx, await endingExecution(tx.db, lost, lost.lease_token), {
      type: 'lost',
      message: `its lease was lost ${lost.lost_leases} times: ${holder}`,
    });
  }

  private async failLate(tx: Transaction, lost: LostRow<ExecutionRow>): Promise<void> {
    const message = `no answer within ${this.catalog.agent(lost.queue)!.timeoutMs / 1_000} s: the agent answered 202, but did not complete the execution`;
    await this.failedAttempts.failAttempt(tx, await endingExecution(tx.db, lost, lost.lease_token), {
      type: 'timeout',
      message,
    });
    // A place within the agent's concurrency is free.
    tx.afterCommit(() => this.signals.executionReady.publish(lost.queue));
  }
}
