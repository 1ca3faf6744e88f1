import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import { countRunning } from '../execution/execution-rows.js';
import { ExecutionSlots } from '../execution/execution-slots.js';
import { TurnWaits } from '../fairness/turn-waits.repository.js';
import { placeText } from '../limits/limit-waits.js';
import type { Configured, KnownWork } from '../processes/known-work.js';
import { Processes } from '../processes/processes.js';
import { countRunningByProcess, type OpenExecution } from './open-execution-rows.js';

/**
 * `concurrency`: as many executions of the agent run as it allows. `slots`: each process with the agent runs as many
 * executions as it may.
 */
export type UsedUpLimit = 'concurrency' | 'slots';

type Ready = Pick<OpenExecution, 'id' | 'agent' | 'priority' | 'background' | 'seq' | 'available_at' | 'fair_key'>;

/** Finds the limits that keep ready executions from being claimed. */
@Injectable()
export class UsedUpLimits {
  constructor(
    private readonly catalog: Catalog,
    private readonly slots: ExecutionSlots,
    private readonly processes: Processes,
    private readonly turns: TurnWaits,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Agents without a used-up limit are left out. */
  async of(agents: readonly string[], known: KnownWork): Promise<ReadonlyMap<string, UsedUpLimit>> {
    const limits = await Promise.all(agents.map(async (agent) => [agent, await this.limitOf(agent, known)] as const));
    return new Map(limits.filter((entry): entry is [string, UsedUpLimit] => entry[1] !== null));
  }

  /**
   * Id of a ready execution → text such as `concurrency of packer: 2 of 2 used, 3rd of 41` if its agent runs as many as it
   * allows. Without the place if keys take turns, or if clients claim what they want.
   */
  async texts(pending: readonly Ready[], known: KnownWork): Promise<ReadonlyMap<string, string>> {
    const texts = new Map<string, string>();
    const ready = pending.filter(({ available_at }) => available_at === null);
    for (const [name, rows] of Map.groupBy(ready, ({ agent }) => agent)) {
      const used = await this.usedConcurrency(name);
      if (used === null) continue;
      const agent = this.catalog.agent(name)!;
      for (const row of rows) {
        const hasPlace = row.fair_key === null && !isExternal(agent);
        const { before, waiting } = hasPlace ? await this.turns.counts(row, known) : { before: 0, waiting: 0 };
        const place = hasPlace ? `, ${placeText(before + 1, Math.max(waiting, before + 1))}` : '';
        texts.set(row.id, `concurrency of ${name}: ${used} of ${agent.concurrency} used${place}`);
      }
    }
    return texts;
  }

  private async limitOf(name: string, known: KnownWork): Promise<UsedUpLimit | null> {
    if ((await this.usedConcurrency(name)) !== null) return 'concurrency';
    const workers = known.workersOf(name);
    if (workers.length === 0 || isExternal(this.catalog.agent(name))) return null;
    const full = await this.fullOf(workers);
    return workers.every(({ id }) => full.has(id)) ? 'slots' : null;
  }

  /** How many executions of the agent run, in all processes, if it allows no more. Otherwise null. */
  private async usedConcurrency(name: string): Promise<number | null> {
    const agent = this.catalog.agent(name);
    if (!agent) return null;
    const [running] = await countRunning(this.unitOfWork.reader, { agent: name });
    if (running!.count >= agent.concurrency) return running!.count;
    // An attempt that ran out of time keeps its slot until its code returns. With one process, that slot decides.
    const { total, byQueue } = this.slots.free([name]);
    const isFull = !this.unitOfWork.isShared && !isExternal(agent) && total > 0 && !byQueue.has(name);
    return isFull ? agent.concurrency : null;
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
