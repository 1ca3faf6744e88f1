import { Injectable } from '@nestjs/common';

import type { Subscription } from '../../catalog/definitions.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { inOrderOfTypes } from '../matching/matcher.js';
import { SubscriptionNumbers } from '../matching/subscription-numbers.js';
import { ExecutionQueue } from '../scheduling/execution-queue.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { GroupErrors } from './group-errors.js';
import { findGroupAfter, findLastOrdinalWith, findMembers, type Member, type WaitingGroup } from './join-group-rows.js';
import { type Arrival, ownerOf, WaitingGroups } from './waiting-groups.js';

/**
 * Joins: a group belongs to (subscription, key) and is complete when it has one artifact of every type. An arrival goes
 * to the oldest group that lacks its type. Therefore the groups that have a type are always the oldest ones, and one
 * index lookup finds the next group, even if thousands wait.
 */
@Injectable()
export class Joins {
  constructor(
    private readonly numbers: SubscriptionNumbers,
    private readonly groups: WaitingGroups,
    private readonly executions: ExecutionQueue,
    private readonly timers: TimerQueue,
    private readonly groupErrors: GroupErrors,
  ) {}

  async arrive(
    tx: Transaction,
    changes: CorrelationChanges,
    subscription: Subscription,
    artifact: Pick<Arrival, 'seq' | 'type' | 'correlationId' | 'key'>,
  ): Promise<void> {
    const arrival = { ...artifact, agent: subscription.agent, subscription: this.numbers.of(subscription) };
    const group =
      (await this.oldestOpenGroupLacking(tx, changes, arrival)) ??
      (await this.groups.open(tx, changes, arrival, subscription.join?.withinMs ?? null));
    await this.groups.join(tx, changes, group, arrival);
    if (group.size < subscription.types.length) return;

    const members = await findMembers(tx.db, { groupId: group.id });
    await this.groups.stopWaiting(tx, changes, group, members);
    if (subscription.where === null) {
      await this.enqueue(tx, changes, subscription, members);
      await this.groups.remove(tx, group.id);
    } else {
      // `where` may take a second, which is too long for a transaction. The completed group is stored, and a timer that
      // is due immediately evaluates it.
      await this.groups.markComplete(tx, group);
      (await changes.get(ownerOf(members))).pending += 1;
      await this.timers.set(tx, 'judge', changes.now, group.id);
    }
  }

  /** Ends a completed group after its `where` has been evaluated. */
  async judged(tx: Transaction, changes: CorrelationChanges, group: WaitingGroup, passes: boolean): Promise<void> {
    const members = await findMembers(tx.db, { groupId: group.id });
    (await changes.get(ownerOf(members))).pending -= 1;
    if (passes) await this.enqueue(tx, changes, this.numbers.find(group)!, members);
    await this.groups.remove(tx, group.id);
  }

  /**
   * Removes a group whose time has passed, and writes one WorkflowError into each correlation with an artifact in it.
   */
  async expire(tx: Transaction, changes: CorrelationChanges, group: WaitingGroup): Promise<void> {
    const members = await findMembers(tx.db, { groupId: group.id });
    const message = `${group.agent} waited for ${this.missingTypes(group, members)} and the join's window ended`;
    await this.groups.release(tx, changes, group, members);
    await this.groupErrors.write(tx, changes, { agent: group.agent, errorType: 'join_expired', message }, members);
    await this.groups.remove(tx, group.id);
  }

  // The timer of a group may be late. A group whose time has passed expires here, so that no artifact joins it.
  private async oldestOpenGroupLacking(
    tx: Transaction,
    changes: CorrelationChanges,
    arrival: Arrival,
  ): Promise<WaitingGroup | undefined> {
    for (;;) {
      const group = await findGroupAfter(tx, arrival, await findLastOrdinalWith(tx, arrival, arrival.type));
      if (!group || group.closes_at === null || group.closes_at > changes.now) return group;
      await this.expire(tx, changes, group);
    }
  }

  private missingTypes(group: WaitingGroup, members: Member[]): string {
    const types = this.numbers.find(group)?.types ?? [];
    const missing = types.filter((type) => !members.some((member) => member.type === type));
    return missing.join(' and ');
  }

  private async enqueue(
    tx: Transaction,
    changes: CorrelationChanges,
    subscription: Subscription,
    members: Member[],
  ): Promise<void> {
    const inputs = inOrderOfTypes(subscription, members).map((member) => member.artifact_seq);
    const correlation = await changes.get(ownerOf(members));
    await this.executions.add(tx, changes, { subscription, correlation, inputs, direct: false });
  }
}
