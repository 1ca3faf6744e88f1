import type { ScheduleOptions } from '../../src/catalog/schedules/schedule.js';
import { shownTime } from './independent-ticks.js';

type Times = Pick<ScheduleOptions, 'cron' | 'every' | 'at' | 'until' | 'time_zone'>;

const SECOND = 1_000;
const UNITS: Record<string, number> = { s: SECOND, m: 60 * SECOND, h: 3_600 * SECOND };

/** Returns the ms of a duration such as `90s`. */
export const msOf = (duration: string): number => Number.parseInt(duration, 10) * UNITS[duration.at(-1)!]!;

/**
 * The ticks after `after` up to `last` (epoch ms), calculated without the service's code. A cron expression has six
 * fields, of which the last three are `*`, and each second is compared with it.
 */
export function dueTimes(
  { cron, every, at, until, time_zone: zone = 'UTC' }: Times,
  after: number,
  last: number,
): number[] {
  const end = until === undefined ? last : Math.min(last, Date.parse(until));
  if (at !== undefined) {
    const times = [at].flat().map((time) => Date.parse(time));
    return times.filter((time) => time > after && time <= end).sort((a, b) => a - b);
  }
  const step = every === undefined ? SECOND : msOf(every);
  const found: number[] = [];
  for (let time = (Math.floor(after / step) + 1) * step; time <= end; time += step)
    if (cron === undefined || matches(cron, shownTime(time, zone))) found.push(time);
  return found;
}

function matches(cron: string, shown: number): boolean {
  const [seconds, minutes, hours, ...days] = cron.split(' ');
  if (days.join(' ') !== '* * *') throw new Error(`${cron} is not one of the expressions that this calculation knows`);
  const date = new Date(shown);
  return (
    isIn(seconds!, date.getUTCSeconds()) && isIn(minutes!, date.getUTCMinutes()) && isIn(hours!, date.getUTCHours())
  );
}

/** `field`: `*`, `*` with a step, or a list of numbers. */
const isIn = (field: string, value: number): boolean =>
  field === '*' ||
  (field.startsWith('*/') ? value % Number(field.slice(2)) === 0 : field.split(',').includes(String(value)));
