import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { Settings } from '../../config/settings.js';
import { isExternal, mayRunOutside } from '../../engines/external/external-work.js';
import { Slots } from '../../queue/slots.js';
import { Processes } from '../processes/processes.js';

/** How many executions of each agent this process may run. */
@Injectable()
export class ExecutionSlots extends Slots {
  constructor(
    settings: Settings,
    private readonly catalog: Catalog,
    private readonly processes: Processes,
  ) {
    super((agent) => slotsOf(catalog.agent(agent)), settings.maxConcurrentExecutions);
  }

  /** The agents whose executions this process runs. */
  get agents(): string[] {
    return this.catalog.agents.filter((agent) => !isExternal(agent)).map(({ name }) => name);
  }

  /**
   * Whether others hold executions that count for the agent's limit. Even a single process shares it with clients and
   * remote agents.
   */
  isLimitShared(agent: string): boolean {
    if (mayRunOutside(this.catalog.agent(agent))) return true;
    return this.processes.mayRunElsewhere(agent);
  }

  /** Whether all running executions that count for the agent's limit have a slot of this process. */
  isOwn(agent: string): boolean {
    return !mayRunOutside(this.catalog.agent(agent)) && this.processes.isAlone;
  }
}

/** No slots for external agents, so that their wake-ups go to other processes, where clients may wait for the work. */
const slotsOf = (agent: AgentDefinition | undefined): number => (!agent || isExternal(agent) ? 0 : agent.concurrency);
