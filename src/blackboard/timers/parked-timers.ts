import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import { Signals } from '../../pubsub/signals.js';
import { isWindow, lockKeyOf, type WaitingGroup } from '../joins/waiting-groups.js';
import { SubscriptionNumbers, type SubscriptionPlace } from '../matching/subscription-numbers.js';
import type { KnownWork } from '../processes/known-work.js';
import { PROCESSES, Processes } from '../processes/processes.js';
import { isAmong, PARKED_AT, type Timer } from '../scheduling/timer-queue.js';

/** What a process must have to fire a timer: a subscription, or an agent if the timer belongs to no subscription. */
export type NeededByTimer = SubscriptionPlace | { agent: string; subscription: null };

const AT_ONCE = 200;

/**
 * Timers that were due while no process had their agent or subscription. They wait behind all other timers until a
 * process has it. Among the due timers, every query for timers to fire would read them again.
 */
@Injectable()
export class ParkedTimers {
  constructor(
    private readonly catalog: Catalog,
    private readonly numbers: SubscriptionNumbers,
    private readonly processes: Processes,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly signals: Signals,
  ) {}

  /** Parks the timer, unless a process that can fire it has started. */
  park(timer: Timer, needed: NeededByTimer): Promise<void> {
    return this.unitOfWork.run(async (tx) => {
      // A process that starts at this moment is either known here, or it wakes this timer afterwards.
      await tx.lock([PROCESSES]);
      if (isKnown(await this.processes.known(tx.db), needed)) return;
      await tx.db
        .updateTable('timers')
        .set({ due_at: PARKED_AT, was_due_at: timer.was_due_at ?? timer.due_at })
        .where('id', '=', timer.id)
        .where('due_at', '=', timer.due_at)
        .execute();
    });
  }

  /** Makes the timers that this process can fire due again. Call it when the process has registered. */
  async wake(): Promise<void> {
    const places = this.numbers.all;
    let woken = AT_ONCE;
    while (places.length > 0 && woken === AT_ONCE)
      woken = await this.unitOfWork.run((tx) => this.wakeGroups(tx, places));
    const external = this.catalog.agents.filter(isExternal).map(({ name }) => name);
    if (external.length > 0) await this.unitOfWork.run((tx) => wakeDue(tx, external));
    this.signals.timerSet.publish(this.clock.now());
  }

  private async wakeGroups(tx: Transaction, places: readonly SubscriptionPlace[]): Promise<number> {
    const parked = await parkedGroups(tx, places);
    await tx.lock(parked.map(lockKeyOf));
    for (const { timer, ...group } of parked) await this.wakeGroup(tx, timer, group);
    return parked.length;
  }

  /**
   * A window is due at its earlier time. A join's whole time begins again, because no artifact could join it while
   * parked.
   */
  private async wakeGroup(tx: Transaction, timer: string, group: WaitingGroup): Promise<void> {
    const { id, opened_at, closes_at, state } = group;
    const again =
      state === 'waiting' && !isWindow(group) && closes_at !== null ? this.clock.now() + closes_at - opened_at : null;
    const { numUpdatedRows } = await tx.db
      .updateTable('timers')
      .set(({ ref }) => ({ due_at: again ?? ref('was_due_at').$notNull(), was_due_at: again }))
      .where('id', '=', timer)
      .where('due_at', '=', PARKED_AT)
      .executeTakeFirst();
    if (again !== null && numUpdatedRows > 0n)
      await tx.db.updateTable('join_groups').set({ closes_at: again }).where('id', '=', id).execute();
  }
}

const isKnown = (known: KnownWork, { agent, subscription }: NeededByTimer): boolean =>
  subscription === null ? known.hasWorkerOf(agent) : known.hasSubscription({ agent, subscription });

const parkedGroups = (
  tx: Transaction,
  places: readonly SubscriptionPlace[],
): Promise<(WaitingGroup & { timer: string })[]> =>
  tx.db
    .selectFrom('timers')
    .innerJoin('join_groups', 'join_groups.id', 'timers.subject')
    .selectAll('join_groups')
    .select('timers.id as timer')
    .where('timers.due_at', '=', PARKED_AT)
    .where(isAmong(places))
    .limit(AT_ONCE)
    .execute();

async function wakeDue(tx: Transaction, agents: readonly string[]): Promise<void> {
  await tx.db
    .updateTable('timers')
    .set(({ ref }) => ({ due_at: ref('was_due_at').$notNull() }))
    .where('due_at', '=', PARKED_AT)
    .where('kind', '=', 'due')
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('executions')
          .select('executions.id')
          .whereRef('executions.id', '=', 'timers.subject')
          .where('executions.agent', 'in', agents),
      ),
    )
    .execute();
}
