import { storedSchedule } from '../../src/catalog/configuration-file/parse-schedules.js';
import { ticksBetween } from '../../src/catalog/schedules/next-tick.js';
import type { Schedule, ScheduleOptions } from '../../src/catalog/schedules/schedule.js';

export type Times = Omit<ScheduleOptions, 'publishes'>;

export const scheduleFrom = (times: Times): Schedule =>
  storedSchedule('made', { ...times, publishes: { type: 'Due' } });

/** The first ticks after a time, as UTC. */
export const ticks = (times: Times, after: string, count: number): string[] =>
  ticksBetween(scheduleFrom(times), Date.parse(after), Number.MAX_SAFE_INTEGER, count).map((tick) =>
    new Date(tick).toISOString(),
  );
