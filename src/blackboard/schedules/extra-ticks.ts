import { Injectable } from '@nestjs/common';

import { ticksBetween } from '../../catalog/schedules/next-tick.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { laterTurn } from '../../common/scheduler.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { CorrelationTracker } from '../correlations/correlation-tracker.js';
import { findVersions } from './schedule-rows.js';
import { Schedules } from './schedules.js';
import { scheduleLock, scheduleOf } from './stored-schedules.js';
import { type PreparedTick, TickPublisher, type TickToPublish } from './tick-publisher.js';
import { findTaken, type NewTick } from './tick-rows.js';

/** Ticks of one backfill. */
const MOST_TICKS = 1_000;
const shownMost = MOST_TICKS.toLocaleString('en');

/** Publishes ticks that clients ask for. `overlap`, `missed` and pauses do not matter to them. */
@Injectable()
export class ExtraTicks {
  constructor(
    private readonly schedules: Schedules,
    private readonly publisher: TickPublisher,
    private readonly tracker: CorrelationTracker,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Publishes a tick of now, or of one of the next milliseconds: the id of a tick comes from its time, so that a trigger
   * leaves the times of the schedule and of other triggers to their ticks. DomainError `not_found`, `invalid` (the tick
   * cannot be published).
   */
  async trigger(name: string): Promise<NewTick> {
    const { options, version, updated_at: changedAt } = await this.schedules.get(name);
    const schedule = scheduleOf(name, options);
    for (let scheduledFor = this.clock.now(); ; scheduledFor += 1) {
      // In the millisecond of the change, an earlier version may have a tick.
      if (scheduledFor === changedAt || ticksBetween(schedule, scheduledFor - 1, scheduledFor, 1).length > 0) continue;
      const prepared = await this.publisher.prepare({ schedule, version, scheduledFor, cause: 'trigger' });
      const { tick } = prepared;
      if (tick.state === 'failed') throw new DomainError('invalid', `The tick cannot be published: ${tick.reason}`);
      if (await this.store(prepared, [])) return tick;
    }
  }

  /**
   * Publishes the ticks from `from` to `to` (epoch ms) that are not published or queued, each by the version of its time.
   * Those that cannot be published have failed. Returns all of them; with `isDryRun` it stores nothing. DomainError
   * `not_found`, `invalid`.
   */
  async backfill(name: string, from: number, to: number, isDryRun: boolean): Promise<NewTick[]> {
    await this.schedules.get(name);
    if (from < 0)
      throw new DomainError('invalid', 'from: must not be before 1970, because the ids of ticks have their times');
    if (to < from) throw new DomainError('invalid', 'to: must not be before from');
    if (to > this.clock.now()) throw new DomainError('invalid', 'to: must not be in the future');
    const ticks = await this.ticksIn(name, from, to);
    if (ticks.length > MOST_TICKS)
      throw new DomainError('invalid', `to: more than ${shownMost} ticks are between from and to; choose less time`);
    const taken = await findTaken(
      this.unitOfWork.reader,
      name,
      ticks.map(({ scheduledFor }) => scheduledFor),
    );
    const open = ticks.filter(({ scheduledFor }) => !taken.has(scheduledFor));
    const backfilled: NewTick[] = [];
    for (const each of open) {
      const prepared = await this.publisher.prepare(each);
      // Another backfill may have published it meanwhile.
      if (isDryRun || (await this.store(prepared, ['skipped', 'failed']))) backfilled.push(prepared.tick);
    }
    return backfilled;
  }

  private async ticksIn(name: string, from: number, to: number): Promise<TickToPublish[]> {
    const versions = await findVersions(this.unitOfWork.reader, name);
    const ticks: TickToPublish[] = [];
    for (const [index, { version, options, valid_from, ended_at }] of versions.entries()) {
      // The first version also holds for the time before it. A tick at the time of a change is one of the earlier version.
      const after = index === 0 ? from - 1 : Math.max(from - 1, valid_from);
      // After the clock was set back, a later version may begin before an earlier one, and holds from then on.
      const end = Math.min(to, ended_at ?? to, ...versions.slice(index + 1).map((later) => later.valid_from));
      const schedule = scheduleOf(name, options);
      const left = MOST_TICKS + 1 - ticks.length;
      if (after >= end || left <= 0) continue;
      for (const scheduledFor of ticksBetween(schedule, after, end, left))
        ticks.push({ schedule, version, scheduledFor, cause: 'backfill' });
      // The search may take long, and other work runs in between.
      await laterTurn();
    }
    return ticks;
  }

  /** Returns false if the tick is decided already, in another state than one of `over`. */
  private store(prepared: PreparedTick, over: readonly ('skipped' | 'failed')[]): Promise<boolean> {
    return this.unitOfWork.run(async (tx) => {
      await tx.lock([scheduleLock(prepared.tick.schedule), ...prepared.lockKeys]);
      const changes = this.tracker.begin(tx);
      if (!(await this.publisher.store(tx, changes, prepared, over))) return false;
      await changes.save();
      return true;
    });
  }
}
