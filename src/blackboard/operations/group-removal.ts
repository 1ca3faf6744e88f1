import { Injectable } from '@nestjs/common';

import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { CorrelationTracker } from '../correlations/correlation-tracker.js';
import { GroupErrors } from '../joins/group-errors.js';
import { findGroup, findMembers, type WaitingGroup } from '../joins/join-group-rows.js';
import { lockKeyOf } from '../joins/lock-keys.js';
import { WaitingGroups } from '../joins/waiting-groups.js';
import type { SubscriptionPlace } from '../matching/subscription-rows.js';
import { PROCESSES, Processes } from '../processes/processes.js';
import type { Operation, Step } from './operation.js';
import { findGroups } from './removal-rows.js';

/** The `error_type` of work that waited for a removed agent or subscription. */
export const AGENT_REMOVED = 'agent_removed';

/** Fails join groups and batch windows that wait for a subscription that no live process has. */
@Injectable()
export class GroupRemoval {
  constructor(
    private readonly processes: Processes,
    private readonly groups: WaitingGroups,
    private readonly groupErrors: GroupErrors,
    private readonly tracker: CorrelationTracker,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Returns steps that fail one group each. */
  async next(place: SubscriptionPlace, { position }: Operation): Promise<Step[]> {
    const groups = await findGroups(this.unitOfWork.reader, place);
    return groups.map((group) => ({
      position,
      locks: [PROCESSES, lockKeyOf(group)],
      run: async (tx) => ({ done: (await this.fail(tx, group)) ? 1 : 0, failed: 0, lastError: null }),
    }));
  }

  /** False if the group has ended already, or a process with its subscription has started. */
  private async fail(tx: Transaction, { id }: WaitingGroup): Promise<boolean> {
    const group = await findGroup(tx.db, id);
    if (!group || (await this.processes.known(tx.db)).hasSubscription(group)) return false;
    const changes = this.tracker.begin(tx);
    const members = await findMembers(tx.db, { groupId: id });
    const message = `no process has the subscription of ${group.agent} that these artifacts waited for; a request ended the wait`;
    await this.groups.release(tx, changes, group, members);
    await this.groupErrors.write(tx, changes, { agent: group.agent, errorType: AGENT_REMOVED, message }, members);
    await this.groups.remove(tx, id);
    await changes.save();
    return true;
  }
}
