import { isDeepStrictEqual } from 'node:util';

import { Injectable } from '@nestjs/common';

import { storedSchedule } from '../../catalog/configuration-file/parse-schedules.js';
import { ticksBetween } from '../../catalog/schedules/next-tick.js';
import type { ConfiguredSchedule, Schedule, ScheduleOptions } from '../../catalog/schedules/schedule.js';
import { Clock } from '../../common/clock.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import {
  deleteSchedule,
  endVersion,
  findSchedule,
  findVersionAt,
  insertSchedule,
  insertVersion,
  type ScheduleRow,
  updateSchedule,
} from './schedule-rows.js';
import { insertTicks, skipQueued, undone } from './tick-rows.js';

/** Ticks that are recorded when a schedule is paused or deleted, because all happens in one transaction. */
const MOST_SKIPPED = 1_000;

/** The name that a transaction locks while it changes a schedule or decides its ticks. */
export const scheduleLock = (name: string): string => `schedule ${name}`;

/** The source of a schedule: a client, or the file with this digest. */
export type Origin = { source: 'api' } | { source: 'file'; configuration: string };

/** Writes schedules and the timers of their next ticks. The caller has locked `scheduleLock`. */
@Injectable()
export class StoredSchedules {
  constructor(
    private readonly timers: TimerQueue,
    private readonly clock: Clock,
  ) {}

  /** Stores a new schedule, or a new version of a stored one if its options differ. */
  async save(tx: Transaction, { schedule, options }: ConfiguredSchedule, origin: Origin): Promise<void> {
    const { name } = schedule;
    const now = this.clock.now();
    const text = JSON.stringify(options);
    const of = { source: origin.source, configuration: origin.source === 'file' ? origin.configuration : '' };
    const stored = await findSchedule(tx.db, name);
    if (stored && isDeepStrictEqual(JSON.parse(stored.options), JSON.parse(text))) {
      if (stored.source !== of.source || stored.configuration !== of.configuration) await updateSchedule(tx, name, of);
      return;
    }
    // The position stays: ticks of the earlier version that were missed until now are decided by that version.
    const version = await insertVersion(tx, name, text, now);
    if (stored) await updateSchedule(tx, name, { ...of, version, updated_at: now });
    else {
      const times = { position: now, paused_at: null, created_at: now, updated_at: now };
      await insertSchedule(tx, { name, version, ...of, ...times });
    }
    if (stored?.paused_at == null) await this.look(tx, name);
  }

  /** Skips its queued ticks, which a later schedule of this name would publish, and those that are not decided. */
  async remove(tx: Transaction, row: ScheduleRow): Promise<void> {
    const { name, version } = row;
    const now = this.clock.now();
    const reason = 'the schedule was deleted';
    await this.timers.cancel(tx, 'tick', name);
    await skipQueued(tx, name, { reason, decided_at: now });
    if (row.paused_at === null) await skipUndecided(tx, row, now, reason);
    await endVersion(tx, name, version, now);
    await deleteSchedule(tx, name);
  }

  /** Skips the ticks that are not decided. Nothing ticks until `resume`. A paused schedule stays as it is. */
  async pause(tx: Transaction, row: ScheduleRow): Promise<void> {
    if (row.paused_at !== null) return;
    const now = this.clock.now();
    await this.timers.cancel(tx, 'tick', row.name);
    await skipUndecided(tx, row, now, 'the schedule was paused');
    await updateSchedule(tx, row.name, { paused_at: now, position: Math.max(row.position, now) });
  }

  /** Continues from now on. The ticks of the pause are not made up for. */
  async resume(tx: Transaction, row: ScheduleRow): Promise<void> {
    if (row.paused_at === null) return;
    await updateSchedule(tx, row.name, { paused_at: null, position: Math.max(row.position, this.clock.now()) });
    await this.look(tx, row.name);
  }

  /** Makes its timer due, which then finds the next tick. */
  private async look(tx: Transaction, name: string): Promise<void> {
    await this.timers.cancel(tx, 'tick', name);
    await this.timers.set(tx, 'tick', this.clock.now(), name);
  }
}

/** The schedule of stored options. */
export const scheduleOf = (name: string, options: string): Schedule =>
  storedSchedule(name, JSON.parse(options) as ScheduleOptions);

/**
 * Skips the ticks up to `now` (epoch ms) that are not decided, each with its version. If they are more than can be recorded,
 * the reason of the last one says that it has others after it.
 */
async function skipUndecided(
  tx: Transaction,
  { name, position }: ScheduleRow,
  now: number,
  reason: string,
): Promise<void> {
  const ticks: { version: number; scheduledFor: number }[] = [];
  for (let after = position; after < now && ticks.length <= MOST_SKIPPED;) {
    const { version, options, validUntil } = await findVersionAt(tx.db, name, after);
    const end = Math.min(validUntil ?? now, now);
    for (const scheduledFor of ticksBetween(scheduleOf(name, options), after, end, MOST_SKIPPED + 1 - ticks.length))
      ticks.push({ version, scheduledFor });
    after = end;
  }
  const others = `; so were all later ticks up to ${toTimestamp(now)}, which are not recorded`;
  await insertTicks(
    tx,
    ticks.slice(0, MOST_SKIPPED).map(({ version, scheduledFor }, index) =>
      undone({
        schedule: name,
        scheduled_for: scheduledFor,
        version,
        state: 'skipped',
        reason: ticks.length > MOST_SKIPPED && index === MOST_SKIPPED - 1 ? reason + others : reason,
        decided_at: now,
      }),
    ),
  );
}
