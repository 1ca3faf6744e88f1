import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { scheduler } from '../../common/scheduler.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { mayRunOutside } from '../../engines/external/external-work.js';
import { Processes } from '../processes/processes.js';
import { AgentPauses, claimLockKey } from '../scheduling/agent-pauses.js';
import { countRunning } from './execution-rows.js';
import { RunningExecutions } from './running-executions.js';

/** Longer than any transaction lasts. */
const FULL_COUNTS_MS = 30_000;

/**
 * How many more executions of an agent may run. `concurrency` limits all processes together; a paused agent runs none.
 */
@Injectable()
export class AgentLimits {
  private aloneAt = -Infinity;

  constructor(
    private readonly catalog: Catalog,
    private readonly running: RunningExecutions,
    private readonly pauses: AgentPauses,
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Agent → free executions, locked until the transaction ends. A process that can have no others counts its
   * running executions in memory, so here it counts only agents whose executions clients or remote agents may hold.
   */
  async free(tx: Transaction, agents: readonly string[]): Promise<Map<string, number>> {
    const counted = this.unitOfWork.isShared
      ? agents
      : agents.filter((agent) => mayRunOutside(this.catalog.agent(agent)));
    const [, paused, isRegistered, counts] = await Promise.all([
      tx.lock(counted.map(claimLockKey)),
      this.pauses.all(tx.db),
      this.processes.isRegistered(tx.db),
      this.counts(tx, counted),
    ]);
    const free = counted.map(
      (agent, index) => [agent, Math.max((this.catalog.agent(agent)?.concurrency ?? 0) - counts[index]!, 0)] as const,
    );
    return new Map([...free, ...none(paused.keys()), ...none(isRegistered ? [] : this.inside(agents))]);
  }

  /** Why no more executions of the agent may run now; null if more may. */
  async whyNone(tx: Transaction, agent: string): Promise<string | null> {
    if ((await this.pauses.all(tx.db)).has(agent)) return `${agent} is paused`;
    if ((await this.free(tx, [agent])).get(agent) !== 0) return null;
    return `${agent} has as many claimed executions as its concurrency allows (${this.catalog.agent(agent)?.concurrency ?? 0})`;
  }

  /** Drops the results of earlier counts, which may be out of date. */
  forget(): void {
    this.running.forget();
  }

  /** The agents whose executions may start without a count (see ImmediateStarts). */
  private inside(agents: readonly string[]): string[] {
    return agents.filter((agent) => !mayRunOutside(this.catalog.agent(agent)));
  }

  private async counts(tx: Transaction, agents: readonly string[]): Promise<number[]> {
    if (this.unitOfWork.isShared) {
      this.forgetAfterBeingAlone();
      return this.running.count(tx, agents);
    }
    const counts = await Promise.all(agents.map((agent) => countRunning(tx.db, { agent })));
    return counts.map(([running]) => running!.count);
  }

  // The remembered counts of a process that was alone lack the executions that it started without a claim, because such a
  // start does not lock the agent. They matter when another process runs the agent too. That process waits until the
  // transactions of these starts have ended (Processes.register).
  private forgetAfterBeingAlone(): void {
    const now = scheduler.elapsed();
    if (this.processes.isAlone) this.aloneAt = now;
    else if (now - this.aloneAt < FULL_COUNTS_MS) this.running.forget();
  }
}

const none = (agents: Iterable<string>): Map<string, number> => new Map([...agents].map((agent) => [agent, 0]));
