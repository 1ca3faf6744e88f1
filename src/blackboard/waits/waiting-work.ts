import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { throttled } from '../../common/throttled.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import { Processes } from '../processes/processes.js';
import { AgentPauses } from '../scheduling/agent-pauses.js';
import { countReleases } from '../scheduling/timer-rows.js';
import {
  countBlockedExecutions,
  countInGroups,
  countReadyExecutions,
  countRetryingExecutions,
} from '../scheduling/waiting-rows.js';

/**
 * Executions that have not started wait for one of these: a free slot of a process, a person or a program that claims them, the
 * time of their next attempt, room in a limit (or a turn, or a breaker), or the end of the pause of their agent.
 */
export const EXECUTION_REASONS = ['slot', 'claim', 'retry', 'limit', 'resume'] as const;

export type ExecutionReason = (typeof EXECUTION_REASONS)[number];

/** Numbers of artifacts that are not inputs of an execution yet, by what they wait for. */
export interface ArtifactReasons {
  /** They wait for the rest of a join or a batch window. Each subscription counts separately. */
  join: number;
  /** Their visibility hides them until a time in the future. */
  release: number;
}

type ReasonOf = (agent: string) => ExecutionReason;

/** Finds and counts all that waits by what it waits for. The counts may be a moment old, because counting much is slow. */
@Injectable()
export class WaitingWork {
  constructor(
    private readonly catalog: Catalog,
    private readonly processes: Processes,
    private readonly pauses: AgentPauses,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Without the executions of agents that no process has. */
  readonly executions = throttled(async (): Promise<Record<ExecutionReason, number>> => {
    const { reader } = this.unitOfWork;
    const { agents, ready, retrying, blocked } = await this.reasons();
    const counts: Record<ExecutionReason, number> = { slot: 0, claim: 0, retry: 0, limit: 0, resume: 0 };
    for (const { agent, count } of await countReadyExecutions(reader, agents)) counts[ready(agent)] += count;
    for (const { agent, count } of await countRetryingExecutions(reader, agents)) counts[retrying(agent)] += count;
    for (const { agent, count } of await countBlockedExecutions(reader, agents)) counts[blocked(agent)] += count;
    return counts;
  });

  /** Returns the agents whose executions wait for this: those that may start now, that wait for a retry, or for something other than time. */
  async agentsWaitingFor(reason: ExecutionReason): Promise<{ ready: string[]; retrying: string[]; blocked: string[] }> {
    const { agents, ready, retrying, blocked } = await this.reasons();
    return {
      ready: agents.filter((agent) => ready(agent) === reason),
      retrying: agents.filter((agent) => retrying(agent) === reason),
      blocked: agents.filter((agent) => blocked(agent) === reason),
    };
  }

  readonly artifacts = throttled(async (): Promise<ArtifactReasons> => {
    const { reader } = this.unitOfWork;
    return { join: await countInGroups(reader), release: await countReleases(reader) };
  });

  /** Says what the executions of each agent wait for: those that may start now, that wait for a retry, or for something other than time. */
  private async reasons(): Promise<{ agents: string[]; ready: ReasonOf; retrying: ReasonOf; blocked: ReasonOf }> {
    const agents = [...(await this.processes.known()).agents];
    const paused = await this.pauses.all(this.unitOfWork.reader);
    const start: ReasonOf = (agent) => (isExternal(this.catalog.agent(agent)) ? 'claim' : 'slot');
    return {
      agents,
      ready: (agent) => (paused.has(agent) ? 'resume' : start(agent)),
      retrying: (agent) => (paused.has(agent) ? 'resume' : 'retry'),
      blocked: (agent) => (paused.has(agent) ? 'resume' : 'limit'),
    };
  }
}
