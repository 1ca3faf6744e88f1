import { Inject, Injectable } from '@nestjs/common';

import { LOGGER, type Logger } from '../../common/logger.js';
import { GroupsWithoutSubscription } from '../joins/groups-without-subscription.js';
import { ExecutionsWithoutAgent } from '../scheduling/executions-without-agent.js';

/** The maximum number of agents in one line, so that its length does not depend on the contents of the database. */
const MOST_NAMED = 50;

/** Logs which agents have waiting work but no process, once per agent until a process has it. */
@Injectable()
export class LackReport {
  private reported: ReadonlySet<string> = new Set();

  constructor(
    private readonly executions: ExecutionsWithoutAgent,
    private readonly groups: GroupsWithoutSubscription,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async report(): Promise<void> {
    const executions = await this.executions.count();
    const groups = await this.groups.count();
    const lacking = new Set([...executions.keys(), ...groups.keys()]);
    const isNew = [...lacking].some((agent) => !this.reported.has(agent));
    this.reported = lacking;
    if (!isNew) return;
    const agents = [...lacking].sort();
    const waiting = agents
      .slice(0, MOST_NAMED)
      .map((agent) => [agent, { executions: executions.get(agent) ?? 0, groups: groups.get(agent) ?? 0 }]);
    this.logger.warn(
      {
        agents: Object.fromEntries(waiting) as object,
        ...(agents.length > MOST_NAMED && { further_agents: agents.length - MOST_NAMED }),
      },
      `work waits for agents or subscriptions that no worker has; start a worker with them, or end the work with POST /api/v1/executions/fail`,
    );
  }
}
