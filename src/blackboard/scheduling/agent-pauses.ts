import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { unknownAgent } from '../../catalog/unknown-names.js';
import { Clock } from '../../common/clock.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { Processes } from '../processes/processes.js';
import { deletePause, findPauses, insertPause } from './pause-rows.js';

/** The name that a process locks (`Transaction.lock`) while it claims executions of an agent. */
export const claimLockKey = (agent: string): string => `claim ${agent}`;

/**
 * Paused agents: no process starts their executions until they are resumed. Running executions continue, and waiting
 * ones keep their correlations active. A pause survives restarts.
 */
@Injectable()
export class AgentPauses {
  constructor(
    private readonly catalog: Catalog,
    private readonly processes: Processes,
    private readonly clock: Clock,
    private readonly signals: Signals,
  ) {}

  /**
   * After the commit no process claims an execution of the agent. Returns since when it is paused (epoch ms).
   * DomainError `not_found` if no process has the agent.
   */
  async pause(tx: Transaction, agent: string): Promise<number> {
    await this.refuseUnknown(tx, agent);
    // Waits for claims that have already read the pauses; later claims see this one.
    await tx.lock([claimLockKey(agent)]);
    return insertPause(tx, { agent, paused_at: this.clock.now() });
  }

  /** Lets waiting executions of this agent start again. DomainError `not_found` if no process has the agent. */
  async resume(tx: Transaction, agent: string): Promise<void> {
    await this.refuseUnknown(tx, agent);
    await deletePause(tx, agent);
    tx.afterCommit(() => this.signals.executionReturned.publishEverywhere(agent));
  }

  /** Agent → since when it is paused (epoch ms). */
  async all(db: Reader): Promise<Map<string, number>> {
    return new Map((await findPauses(db, {})).map(({ agent, paused_at }) => [agent, paused_at]));
  }

  private async refuseUnknown({ db }: Transaction, agent: string): Promise<void> {
    if (!(await this.processes.isConfigured(db, agent))) throw unknownAgent(agent, this.catalog.agents);
  }
}
