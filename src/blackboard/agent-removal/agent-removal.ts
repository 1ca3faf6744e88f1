import { Injectable } from '@nestjs/common';

import { unknownAgent } from '../../catalog/unknown-names.js';
import { DomainError } from '../../common/domain-error.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { GroupsWithoutSubscription } from '../joins/groups-without-subscription.js';
import type { SubscriptionPlace } from '../matching/subscription-rows.js';
import { Presence } from '../presence/presence.js';
import { Processes } from '../processes/processes.js';
import { ExecutionRemoval } from './execution-removal.js';
import { GroupRemoval } from './group-removal.js';
import { isStored } from './removal-rows.js';

const TRY_AGAIN_SECONDS = 5;

/** How many waiting executions and groups were ended. */
export interface Ended {
  executions: number;
  /** Join groups and batch windows. */
  groups: number;
}

/** Fails the work that waits for an agent, or for a subscription of it, that no live process has. */
@Injectable()
export class AgentRemoval {
  constructor(
    private readonly processes: Processes,
    private readonly presence: Presence,
    private readonly groupsWithoutSubscription: GroupsWithoutSubscription,
    private readonly executions: ExecutionRemoval,
    private readonly groups: GroupRemoval,
    private readonly lifecycle: Lifecycle,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Fails the executions that wait for an agent that no live process has, and the groups of its subscriptions that no
   * live process has, even if a process has the agent. It takes some at a time and ends each in a separate transaction.
   * After a crash, the rest waits as before, and another call ends it. DomainError: `conflict` (a live process has the
   * agent and all subscriptions that groups wait for), `not_found` (nothing of this agent is stored), `unavailable`.
   */
  async fail(agent: string): Promise<Ended> {
    const places = (await this.groupsWithoutSubscription.find()).filter((place) => place.agent === agent);
    await this.check(agent, places);
    const ended = { executions: await this.failAll(() => this.executions.failSome(agent)), groups: 0 };
    for (const place of places) ended.groups += await this.failAll(() => this.groups.failSome(place));
    await this.presence.count();
    return ended;
  }

  private async check(agent: string, places: readonly SubscriptionPlace[]): Promise<void> {
    if (places.length > 0) return;
    if ((await this.processes.known()).hasAgent(agent)) {
      throw new DomainError(
        'conflict',
        `A live process has the agent ${agent} and runs its executions; GET /api/v1/processes shows which`,
      );
    }
    // An agent with ended executions is not an error: the client may have sent the request twice.
    if (!(await isStored(this.unitOfWork.reader, agent))) throw unknownAgent(agent);
  }

  /** Returns the sum when `failSome` returns null. */
  private async failAll(failSome: () => Promise<number | null>): Promise<number> {
    let total = 0;
    for (;;) {
      this.refuseWhenStopping();
      const failed = await failSome();
      if (failed === null) return total;
      total += failed;
    }
  }

  private refuseWhenStopping(): void {
    if (!this.lifecycle.stopping) return;
    throw new DomainError('unavailable', 'The service is shutting down; send the request again to end the rest', {
      retryAfterSeconds: TRY_AGAIN_SECONDS,
    });
  }
}
