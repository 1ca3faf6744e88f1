import { Injectable } from '@nestjs/common';

import { UnitOfWork } from '../../database/unit-of-work.js';
import { isInState } from '../../queue/state-predicate.js';
import { GroupsWithoutSubscription } from '../joins/groups-without-subscription.js';
import { ExecutionsWithoutAgent } from '../scheduling/executions-without-agent.js';
import { isAmong } from '../scheduling/timer-queue.js';

/** Finds the agents that a correlation waits for and no process has. */
@Injectable()
export class WaitingForAgents {
  constructor(
    private readonly executions: ExecutionsWithoutAgent,
    private readonly groups: GroupsWithoutSubscription,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * The agents of its waiting executions, and of the groups of missing subscriptions that hold its artifacts; sorted.
   */
  async of(correlationId: string): Promise<string[]> {
    return [...new Set([...(await this.ofExecutions(correlationId)), ...(await this.ofGroups(correlationId))])].sort();
  }

  private async ofExecutions(correlationId: string): Promise<string[]> {
    const agents = await this.executions.agents();
    if (agents.length === 0) return [];
    const rows = await this.unitOfWork.reader
      .selectFrom('executions')
      .select('agent')
      .distinct()
      .where('correlation_id', '=', correlationId)
      .where('agent', 'in', agents)
      .where(isInState('pending'))
      .execute();
    return rows.map(({ agent }) => agent);
  }

  private async ofGroups(correlationId: string): Promise<string[]> {
    const places = await this.groups.subscriptions();
    if (places.length === 0) return [];
    const rows = await this.unitOfWork.reader
      .selectFrom('join_arrivals')
      .innerJoin('join_groups', 'join_groups.id', 'join_arrivals.group_id')
      .select('join_groups.agent')
      .distinct()
      .where('join_arrivals.correlation_id', '=', correlationId)
      .where(isAmong(places))
      .execute();
    return rows.map(({ agent }) => agent);
  }
}
