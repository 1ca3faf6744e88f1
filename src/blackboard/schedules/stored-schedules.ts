import { Injectable } from '@nestjs/common';

import { storedSchedule } from '../../catalog/configuration-file/parse-schedules.js';
import type { ConfiguredSchedule, Schedule, ScheduleOptions } from '../../catalog/schedules/schedule.js';
import { Clock } from '../../common/clock.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import {
  deleteSchedule,
  endVersion,
  findSchedule,
  insertSchedule,
  insertVersion,
  type ScheduleRow,
  updateSchedule,
} from './schedule-rows.js';
import { skipQueued } from './tick-rows.js';

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
    if (stored?.options === text) {
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

  /** Skips its queued ticks: a later schedule of this name would publish them. */
  async remove(tx: Transaction, { name, version }: ScheduleRow): Promise<void> {
    const now = this.clock.now();
    await this.timers.cancel(tx, 'tick', name);
    await skipQueued(tx, name, { reason: 'the schedule was deleted', decided_at: now });
    await endVersion(tx, name, version, now);
    await deleteSchedule(tx, name);
  }

  /** Nothing ticks until `resume`. A paused schedule stays as it is. */
  async pause(tx: Transaction, row: ScheduleRow): Promise<void> {
    if (row.paused_at !== null) return;
    await this.timers.cancel(tx, 'tick', row.name);
    await updateSchedule(tx, row.name, { paused_at: this.clock.now() });
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
