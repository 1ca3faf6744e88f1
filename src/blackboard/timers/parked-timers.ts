import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { Clock } from '../../common/clock.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { UnclaimedShadows } from '../execution/unclaimed-shadows.js';
import { updateClosingTime, type WaitingGroup } from '../joins/join-group-rows.js';
import { isWindow, lockKeyOf } from '../joins/lock-keys.js';
import { SubscriptionNumbers } from '../matching/subscription-numbers.js';
import type { SubscriptionPlace } from '../matching/subscription-rows.js';
import type { KnownWork } from '../processes/known-work.js';
import { PROCESSES, Processes } from '../processes/processes.js';
import { findParkedGroups, parkTimer, type Timer, wakeExecutionTimers, wakeTimer } from '../scheduling/timer-rows.js';
import type { NeededByTimer } from './timer-handler.js';

const AT_ONCE = 200;

/**
 * Timers that were due while no process had their agent, subscription or configuration. They wait behind all other timers
 * until a process has it. Among the due timers, every query for timers to fire would read them again.
 */
@Injectable()
export class ParkedTimers {
  constructor(
    private readonly catalog: Catalog,
    private readonly numbers: SubscriptionNumbers,
    private readonly processes: Processes,
    private readonly shadows: UnclaimedShadows,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly signals: Signals,
  ) {}

  /** Parks the timer, unless a process that can fire it has started. */
  park(timer: Timer, needed: NeededByTimer): Promise<void> {
    return this.unitOfWork.run(async (tx) => {
      // A process that starts at this moment is either known here, or it wakes this timer afterwards.
      await tx.lock([PROCESSES]);
      if (!isKnown(await this.processes.known(tx.db), needed)) await parkTimer(tx, timer);
    });
  }

  /**
   * Makes the timers that this process can fire due again, and sets those that its configuration makes necessary. Call it
   * when the process has registered.
   */
  async wake(): Promise<void> {
    const places = this.numbers.all;
    let woken = AT_ONCE;
    while (places.length > 0 && woken === AT_ONCE)
      woken = await this.unitOfWork.run((tx) => this.wakeGroups(tx, places));
    const agents = this.catalog.agents.map(({ name }) => name);
    if (agents.length > 0) await this.unitOfWork.run((tx) => wakeExecutionTimers(tx, agents, this.catalog.replayKeys));
    await this.shadows.leaveToRecord();
    this.signals.timerSet.publish(this.clock.now());
  }

  private async wakeGroups(tx: Transaction, places: readonly SubscriptionPlace[]): Promise<number> {
    const parked = await findParkedGroups(tx, places, AT_ONCE);
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
    const isWoken = await wakeTimer(tx, timer, again);
    if (isWoken && again !== null) await updateClosingTime(tx, id, again);
  }
}

function isKnown(known: KnownWork, needed: NeededByTimer): boolean {
  if ('configuration' in needed) return known.hasConfiguration(needed.configuration);
  const { agent, subscription } = needed;
  return subscription === null ? known.hasWorkerOf(agent) : known.hasSubscription({ agent, subscription });
}
