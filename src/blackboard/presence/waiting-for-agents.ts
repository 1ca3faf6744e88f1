import { Injectable } from '@nestjs/common';

import { UnitOfWork } from '../../database/unit-of-work.js';
import { GroupsWithoutSubscription } from '../joins/groups-without-subscription.js';
import { findAgentsWithMembers } from '../joins/join-group-rows.js';
import { ExecutionsWithoutAgent } from '../scheduling/executions-without-agent.js';
import { findAwaitedAgentsIn } from '../scheduling/waiting-rows.js';

/** Finds the agents that correlations wait for and no process has. */
@Injectable()
export class WaitingForAgents {
  constructor(
    private readonly executions: ExecutionsWithoutAgent,
    private readonly groups: GroupsWithoutSubscription,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * For each correlation that waits for some: the agents of its waiting executions, and of the groups of missing
   * subscriptions that hold its artifacts; sorted.
   */
  async of(correlationIds: readonly string[]): Promise<Map<string, string[]>> {
    const { reader } = this.unitOfWork;
    const agents = await this.executions.agents();
    const ofExecutions = agents.length === 0 ? [] : await findAwaitedAgentsIn(reader, correlationIds, agents);
    const places = await this.groups.subscriptions();
    const ofGroups = places.length === 0 ? [] : await findAgentsWithMembers(reader, correlationIds, places);
    const found = Map.groupBy([...ofExecutions, ...ofGroups], ({ correlation_id }) => correlation_id);
    return new Map([...found].map(([id, rows]) => [id, [...new Set(rows.map(({ agent }) => agent))].sort()]));
  }
}
