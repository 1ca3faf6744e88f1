import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { throttled } from '../../common/background-work.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import { Processes } from '../processes/processes.js';
import { AgentPauses } from '../scheduling/agent-pauses.js';
import { countReleases } from '../scheduling/timer-rows.js';
import { countInGroups, countReadyExecutions, countRetryingExecutions } from '../scheduling/waiting-rows.js';

/** Numbers of executions that have not started, by what they wait for. */
export interface ExecutionReasons {
  /** They wait for a free slot of a process. */
  slot: number;
  /** They wait for a person or a program that claims them. */
  claim: number;
  /** They wait for the time of their next attempt. */
  retry: number;
  /** Their agent is paused. */
  resume: number;
}

/** Numbers of artifacts that are not inputs of an execution yet, by what they wait for. */
export interface ArtifactReasons {
  /** They wait for the rest of a join or a batch window. Each subscription counts separately. */
  join: number;
  /** Their visibility hides them until a time in the future. */
  release: number;
}

/** Counts all that waits by what it waits for. The counts may be a moment old, because counting much is slow. */
@Injectable()
export class WaitingWork {
  constructor(
    private readonly catalog: Catalog,
    private readonly processes: Processes,
    private readonly pauses: AgentPauses,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Without the executions of agents that no process has. */
  readonly executions = throttled(async (): Promise<ExecutionReasons> => {
    const { reader } = this.unitOfWork;
    const agents = [...(await this.processes.known()).agents];
    const paused = await this.pauses.all(reader);
    const counts: ExecutionReasons = { slot: 0, claim: 0, retry: 0, resume: 0 };
    for (const { agent, count } of await countReadyExecutions(reader, agents)) {
      const start = isExternal(this.catalog.agent(agent)) ? 'claim' : 'slot';
      counts[paused.has(agent) ? 'resume' : start] += count;
    }
    for (const { agent, count } of await countRetryingExecutions(reader, agents))
      counts[paused.has(agent) ? 'resume' : 'retry'] += count;
    return counts;
  });

  readonly artifacts = throttled(async (): Promise<ArtifactReasons> => {
    const { reader } = this.unitOfWork;
    return { join: await countInGroups(reader), release: await countReleases(reader) };
  });
}
