import { Injectable } from '@nestjs/common';

import { unknownAgent } from '../../catalog/unknown-names.js';
import { DomainError } from '../../common/domain-error.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { GroupsWithoutSubscription } from '../joins/groups-without-subscription.js';
import type { SubscriptionPlace } from '../matching/subscription-rows.js';
import { Presence } from '../presence/presence.js';
import { PROCESSES, Processes } from '../processes/processes.js';
import { AGENT_REMOVED, GroupRemoval } from './group-removal.js';
import { countWaiting, findWaiting, READ_AT_ONCE } from './matching-rows.js';
import { inParts, type Operation, type Start, type Step } from './operation.js';
import { countGroupsAt, isStored } from './removal-rows.js';
import { WaitingExecutions } from './waiting-executions.js';

/**
 * Fails the work that waits for an agent, or for a subscription of it, that no live process has: executions, join groups
 * and batch windows.
 */
@Injectable()
export class AgentRemoval {
  constructor(
    private readonly processes: Processes,
    private readonly presence: Presence,
    private readonly groupsWithoutSubscription: GroupsWithoutSubscription,
    private readonly executions: WaitingExecutions,
    private readonly groups: GroupRemoval,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * DomainError: `conflict` (a live process has the agent and all subscriptions that groups wait for), `not_found`
   * (nothing of this agent is stored).
   */
  async check(agent: string): Promise<void> {
    if ((await this.places(agent)).length > 0) return;
    if (await this.hasAgent(agent)) {
      throw new DomainError(
        'conflict',
        `A live process has the agent ${agent} and runs its executions; GET /api/v1/processes shows which`,
      );
    }
    // An agent with ended executions is not an error: the client may have sent the request twice.
    // What other agents wait for must not be proposed for removal.
    if (!(await isStored(this.unitOfWork.reader, agent))) throw unknownAgent(agent, []);
  }

  /** Counts executions and groups. */
  async count(agent: string, start: Start): Promise<number> {
    const { reader } = this.unitOfWork;
    const groups = await countGroupsAt(reader, await this.places(agent));
    return (await this.hasAgent(agent)) ? groups : groups + (await countWaiting(reader, { agent }, start));
  }

  async next(agent: string, operation: Operation): Promise<Step[]> {
    const steps = await this.failExecutions(agent, operation);
    if (steps.length > 0) return steps;
    for (const place of await this.places(agent)) {
      const found = await this.groups.next(place, operation);
      if (found.length > 0) return found;
    }
    await this.presence.count();
    return [];
  }

  private async failExecutions(agent: string, operation: Operation): Promise<Step[]> {
    if (await this.hasAgent(agent)) return [];
    const found = await findWaiting(this.unitOfWork.reader, { agent }, operation, READ_AT_ONCE);
    const message = `no process has the agent ${agent}; a request ended this execution`;
    return inParts(found).map((part) => ({
      position: operation.position,
      locks: [PROCESSES],
      run: async (tx) => {
        // No process with the agent can start until this transaction has ended.
        const isBack = (await this.processes.known(tx.db)).hasAgent(agent);
        const ids = part.map(({ id }) => id);
        const done = isBack ? 0 : await this.executions.fail(tx, ids, { type: AGENT_REMOVED, message });
        return { done, failed: 0, lastError: null };
      },
    }));
  }

  private async places(agent: string): Promise<SubscriptionPlace[]> {
    return (await this.groupsWithoutSubscription.find()).filter((place) => place.agent === agent);
  }

  private async hasAgent(agent: string): Promise<boolean> {
    return (await this.processes.known()).hasAgent(agent);
  }
}
