import { randomUUID } from 'node:crypto';

import { Injectable } from '@nestjs/common';

import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { forEachInTransaction } from '../../queue/for-each-in-transaction.js';
import { endingExecution } from '../execution/ending-execution.js';
import { FailedAttempts } from '../execution/failed-attempts.js';
import type { ExecutionRow } from '../execution/leased-executions.js';
import { Leases } from '../execution/leases.js';
import { PROCESSES, Processes } from '../processes/processes.js';
import { findWaiting, seize } from './removal-rows.js';

/** The `error_type` of work that waited for a removed agent or subscription. */
export const AGENT_REMOVED = 'agent_removed';

/** A waiting execution that this process has leased in order to fail it. */
interface Seized {
  row: ExecutionRow;
  leaseToken: string;
}

/** Fails executions that wait for an agent that no live process has. */
@Injectable()
export class ExecutionRemoval {
  constructor(
    private readonly processes: Processes,
    private readonly leases: Leases,
    private readonly failedAttempts: FailedAttempts,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Returns how many it failed; null if none waits, or if a process with the agent has started. */
  async failSome(agent: string): Promise<number | null> {
    const seized = await this.unitOfWork.run((tx) => this.seize(tx, agent));
    if (seized.length === 0) return null;
    let failed = 0;
    await forEachInTransaction(this.unitOfWork, seized, async (tx, { row, leaseToken }) => {
      const outcome = await this.failedAttempts.fail(tx, await endingExecution(tx.db, row, leaseToken), {
        type: AGENT_REMOVED,
        message: `no process has the agent ${agent}; a request ended this execution`,
      });
      if (outcome === 'failed') tx.afterCommit(() => (failed += 1));
    });
    return failed;
  }

  /** Leases some for this process. Other transactions end them, as in RowLeases. */
  private async seize(tx: Transaction, agent: string): Promise<Seized[]> {
    await tx.lock([PROCESSES]);
    if ((await this.processes.known(tx.db)).hasAgent(agent)) return [];
    const rows = await findWaiting(tx, agent);
    const leaseToken = randomUUID();
    await seize(
      tx,
      rows.map(({ id }) => id),
      { leaseToken, ...this.leases.rows.next() },
    );
    return rows.map((row) => ({ row, leaseToken }));
  }
}
