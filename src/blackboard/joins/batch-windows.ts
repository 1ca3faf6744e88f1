import { Injectable } from '@nestjs/common';

import type { Subscription } from '../../catalog/definitions.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { SubscriptionNumbers } from '../matching/subscription-numbers.js';
import { ExecutionQueue } from '../scheduling/execution-queue.js';
import { findGroupAfter, findMembers, type Member, type WaitingGroup } from './join-group-rows.js';
import { type Arrival, ownerOf, WaitingGroups } from './waiting-groups.js';

/**
 * Windows collect artifacts of any correlation, by the subscription's key if it has one. A batch window keeps them until there
 * are `size`, or until `timeout` after the first. With `debounce`, each artifact takes the place of the one before, and the
 * window ends when none has come for `wait`, or `at_most` after the first.
 */
@Injectable()
export class BatchWindows {
  constructor(
    private readonly numbers: SubscriptionNumbers,
    private readonly groups: WaitingGroups,
    private readonly executions: ExecutionQueue,
  ) {}

  async arrive(
    tx: Transaction,
    changes: CorrelationChanges,
    subscription: Subscription,
    artifact: Pick<Arrival, 'seq' | 'type' | 'correlationId' | 'key'>,
  ): Promise<void> {
    const { batch, debounce } = subscription;
    const limitMs = debounce ? debounce.waitMs : batch!.timeoutMs;
    const arrival = {
      ...artifact,
      agent: subscription.agent,
      subscription: this.numbers.of(subscription),
    };
    const window =
      (await this.openWindow(tx, changes, arrival)) ?? (await this.groups.open(tx, changes, arrival, limitMs));
    if (debounce && window.size > 0) await this.supersede(tx, changes, subscription, window, arrival);
    await this.groups.join(tx, changes, window, arrival);
    if (debounce)
      await this.groups.moveLimit(
        tx,
        window,
        Math.min(changes.now + debounce.waitMs, window.opened_at + debounce.atMostMs),
      );
    else if (window.size >= batch!.size) await this.close(tx, changes, window);
  }

  /** Adds one execution with all artifacts of the window, in the correlation of the newest one. */
  async close(tx: Transaction, changes: CorrelationChanges, window: WaitingGroup): Promise<void> {
    const members = await findMembers(tx.db, { groupId: window.id });
    await this.enqueue(tx, changes, this.numbers.find(window)!, members);
    // The execution counts as pending before the window's count is removed, so the correlation does not settle in
    // between.
    await this.groups.stopWaiting(tx, changes, window, members);
    await this.groups.remove(tx, window.id);
  }

  /** Consumes what is in the window, because this artifact takes its place. */
  private async supersede(
    tx: Transaction,
    changes: CorrelationChanges,
    subscription: Subscription,
    window: WaitingGroup,
    { seq }: Arrival,
  ): Promise<void> {
    for (const member of await findMembers(tx.db, { groupId: window.id })) {
      const correlation = await changes.get(member.correlation_id);
      const inputs = [member.artifact_seq];
      await this.executions.addSuperseded(tx, changes, { subscription, correlation, inputs, direct: false }, seq);
      await this.groups.leave(tx, changes, window, member);
    }
  }

  // The timer of a window may be late. A window whose time has passed is closed here, so that no artifact joins it.
  private async openWindow(
    tx: Transaction,
    changes: CorrelationChanges,
    arrival: Arrival,
  ): Promise<WaitingGroup | undefined> {
    const window = await findGroupAfter(tx, arrival, 0);
    if (!window || window.closes_at === null || window.closes_at > changes.now) return window;
    await this.close(tx, changes, window);
    return undefined;
  }

  private async enqueue(
    tx: Transaction,
    changes: CorrelationChanges,
    subscription: Subscription,
    members: Member[],
  ): Promise<void> {
    const inputs = members.map((member) => member.artifact_seq);
    const correlation = await changes.get(ownerOf(members));
    await this.executions.add(tx, changes, { subscription, correlation, inputs, direct: false });
  }
}
