import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { throttled } from '../../common/throttled.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import { Processes } from '../processes/processes.js';
import { AgentPauses } from '../scheduling/agent-pauses.js';
import { ExecutionsWithoutConfiguration } from '../scheduling/executions-without-configuration.js';
import { countReleases } from '../scheduling/timer-rows.js';
import {
  type ConfigurationCount,
  countBlockedExecutions,
  countInGroups,
  countReadyExecutions,
  countRetryingExecutions,
  countStatesWithConfiguration,
  type WaitingState,
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

/** Tells which executions wait for something. */
export interface WaitingAgents {
  /** The agents whose executions in this state wait for it. */
  agents: Record<WaitingState, string[]>;
  /** Their executions with these configurations do not: no process has the configuration. */
  except: readonly ConfigurationCount[];
}

/** Says what the executions of an agent in each state wait for. */
type Reasons = Record<WaitingState, (agent: string) => ExecutionReason>;

const COUNTS = { ready: countReadyExecutions, retrying: countRetryingExecutions, blocked: countBlockedExecutions };

/** Finds and counts all that waits by what it waits for. The counts may be a moment old, because counting much is slow. */
@Injectable()
export class WaitingWork {
  constructor(
    private readonly catalog: Catalog,
    private readonly processes: Processes,
    private readonly pauses: AgentPauses,
    private readonly withoutConfiguration: ExecutionsWithoutConfiguration,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Without the executions whose agent or configuration no process has. */
  readonly executions = throttled(async (): Promise<Record<ExecutionReason, number>> => {
    const { reader } = this.unitOfWork;
    const { agents, reasons } = await this.reasons();
    const counts: Record<ExecutionReason, number> = { slot: 0, claim: 0, retry: 0, limit: 0, resume: 0 };
    for (const state of ['ready', 'retrying', 'blocked'] as const)
      for (const { agent, count } of await COUNTS[state](reader, agents)) counts[reasons[state](agent)] += count;
    // These are counted apart, because only then the other counts read nothing but an index.
    for (const { agent, configuration } of await this.withoutConfiguration.counts())
      for (const { state, count } of await countStatesWithConfiguration(reader, { agent, configuration }))
        counts[reasons[state](agent)] -= count;
    // Some may have begun to wait after the first counts.
    for (const reason of EXECUTION_REASONS) counts[reason] = Math.max(0, counts[reason]);
    return counts;
  });

  async waitingFor(reason: ExecutionReason): Promise<WaitingAgents> {
    const { agents: all, reasons } = await this.reasons();
    const agentsIn = (state: WaitingState): string[] => all.filter((agent) => reasons[state](agent) === reason);
    const agents = { ready: agentsIn('ready'), retrying: agentsIn('retrying'), blocked: agentsIn('blocked') };
    return { agents, except: await this.withoutConfiguration.counts() };
  }

  readonly artifacts = throttled(async (): Promise<ArtifactReasons> => {
    const { reader } = this.unitOfWork;
    return { join: await countInGroups(reader), release: await countReleases(reader) };
  });

  /** `agents`: those that a process has. */
  private async reasons(): Promise<{ agents: string[]; reasons: Reasons }> {
    const agents = [...(await this.processes.known()).agents];
    const paused = await this.pauses.all(this.unitOfWork.reader);
    const start = (agent: string): ExecutionReason => (isExternal(this.catalog.agent(agent)) ? 'claim' : 'slot');
    return {
      agents,
      reasons: {
        ready: (agent) => (paused.has(agent) ? 'resume' : start(agent)),
        retrying: (agent) => (paused.has(agent) ? 'resume' : 'retry'),
        blocked: (agent) => (paused.has(agent) ? 'resume' : 'limit'),
      },
    };
  }
}
