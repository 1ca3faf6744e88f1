import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, type Logger } from '../../common/logger.js';
import { ExecutionsWithoutAgent } from '../scheduling/executions-without-agent.js';
import { GroupsWithoutSubscription } from '../joins/groups-without-subscription.js';

/** Agents that one line names; a line must not grow with what a database holds. */
const MOST_NAMED = 50;

/** Says in the log which agents are waited for that no process has: once for each of them, until a process has had it. */
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
    const waiting = agents.slice(0, MOST_NAMED).map((agent) => [agent, { executions: executions.get(agent) ?? 0, groups: groups.get(agent) ?? 0 }]);
    this.logger.warn(
      { agents: Object.fromEntries(waiting) as object, ...(agents.length > MOST_NAMED && { further_agents: agents.length - MOST_NAMED }) },
      `work waits that no process can do: its agents, or their subscriptions, are in the configuration of no process that works; it goes on when a process has them, and POST /api/v1/executions/fail ends it`,
    );
  }
}
