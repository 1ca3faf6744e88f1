import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import { countRunning } from '../execution/execution-rows.js';
import { ExecutionSlots } from '../execution/execution-slots.js';
import type { Configured, KnownWork } from '../processes/known-work.js';
import { Processes } from '../processes/processes.js';
import { countRunningByProcess } from './open-execution-rows.js';

/**
 * `concurrency`: as many executions of the agent run as it allows. `slots`: each process with the agent runs as many
 * executions as it may.
 */
export type UsedUpLimit = 'concurrency' | 'slots';

/** Finds the limits that keep ready executions from being claimed. */
@Injectable()
export class UsedUpLimits {
  constructor(
    private readonly catalog: Catalog,
    private readonly slots: ExecutionSlots,
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Agents without a used-up limit are left out. */
  async of(agents: readonly string[], known: KnownWork): Promise<ReadonlyMap<string, UsedUpLimit>> {
    const limits = await Promise.all(agents.map(async (agent) => [agent, await this.limitOf(agent, known)] as const));
    return new Map(limits.filter((entry): entry is [string, UsedUpLimit] => entry[1] !== null));
  }

  private async limitOf(name: string, known: KnownWork): Promise<UsedUpLimit | null> {
    if (await this.isAtConcurrency(name)) return 'concurrency';
    const workers = known.workersOf(name);
    if (workers.length === 0 || isExternal(this.catalog.agent(name))) return null;
    const full = await this.fullOf(workers);
    return workers.every(({ id }) => full.has(id)) ? 'slots' : null;
  }

  private async isAtConcurrency(name: string): Promise<boolean> {
    const agent = this.catalog.agent(name);
    if (!agent) return false;
    const [running] = await countRunning(this.unitOfWork.reader, { agent: name });
    if (running!.count >= agent.concurrency) return true;
    // An attempt that ran out of time keeps its slot until its code returns. With one process, that slot decides.
    const { total, byQueue } = this.slots.free([name]);
    return !this.processes.mayBeSeveral && !isExternal(agent) && total > 0 && !byQueue.has(name);
  }

  /** Returns the processes that run as many executions as they may. */
  private async fullOf(workers: readonly Configured[]): Promise<ReadonlySet<string>> {
    const others = workers.filter(({ id }) => id !== this.processes.own);
    const running = await countRunningByProcess(
      this.unitOfWork.reader,
      others.map(({ id }) => id),
    );
    const full = others.filter(({ id, maxExecutions }) => (running.get(id) ?? 0) >= (maxExecutions ?? Infinity));
    return new Set([...full.map(({ id }) => id), ...(this.slots.free([]).total === 0 ? [this.processes.own] : [])]);
  }
}
