import { Injectable } from '@nestjs/common';

import { throttled } from '../../common/throttled.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { KnownWork } from '../processes/known-work.js';
import { Processes } from '../processes/processes.js';
import { countWaitingExecutions, findAwaitedAgents } from './waiting-rows.js';

/**
 * Executions that wait for agents that no live process has. They have no state for this: they wait like all others, and
 * run when a process with their agent claims them.
 */
@Injectable()
export class ExecutionsWithoutAgent {
  constructor(
    private readonly processes: Processes,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** The agents that such executions wait for. The value may be a moment old. */
  readonly agents = throttled(() => this.find());

  /** The number of such executions by agent. The value may be a moment old, because counting many is slow. */
  readonly counts = throttled(() => this.count());

  /** `given`: the processes by which the caller counts other executions, too. */
  async count(given?: KnownWork): Promise<ReadonlyMap<string, number>> {
    const agents = await this.find(given);
    const counts = await countWaitingExecutions(this.unitOfWork.reader, agents);
    return new Map(agents.map((agent) => [agent, counts.get(agent) ?? 0]));
  }

  private async find(given?: KnownWork): Promise<readonly string[]> {
    const awaited = await findAwaitedAgents(this.unitOfWork.reader);
    if (awaited.length === 0) return [];
    const known = given ?? (await this.processes.known());
    return awaited.filter((agent) => !known.hasAgent(agent)).sort();
  }
}
