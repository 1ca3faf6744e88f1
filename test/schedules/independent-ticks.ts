import type { Duplicate, Missing } from '../../src/catalog/schedules/schedule.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formats.set(timeZone, format);
  }
  return format;
}

/** The local time as Node shows it, as if it were UTC (epoch ms). */
export function shownTime(instant: number, timeZone: string): number {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  );
  return Date.UTC(parts.year!, parts.month! - 1, parts.day!, parts.hour!, parts.minute!, parts.second!);
}

/** A change of the clocks: the local time before it, and the local time that follows. */
export interface Transition {
  at: number;
  /** Milliseconds that the clocks go forward; negative if they go back. */
  by: number;
}

/** The changes of the clocks of a zone from `from` to `to`, found by looking at what Node shows hour by hour. */
export function transitionsOf(timeZone: string, from: number, to: number): Transition[] {
  const offset = (instant: number): number => shownTime(instant, timeZone) - instant;
  const found: Transition[] = [];
  const STEP = 21 * 24 * HOUR;
  const search = (start: number, end: number): void => {
    if (end - start <= 1_000) {
      found.push({ at: end, by: offset(end) - offset(start) });
      return;
    }
    const middle = start + Math.floor((end - start) / 2_000) * 1_000;
    if (offset(start) !== offset(middle)) search(start, middle);
    if (offset(middle) !== offset(end)) search(middle, end);
  };
  for (let start = from; start < to; start += STEP)
    if (offset(start) !== offset(start + STEP)) search(start, start + STEP);
  return found;
}

/** The times that a zone's clocks show at every minute of some hours. */
export interface Walk {
  from: number;
  /** Local times, as `shownTime` gives them, from the minute before `from` on. */
  shown: number[];
}

export const walk = (timeZone: string, from: number, to: number): Walk => ({
  from,
  shown: Array.from({ length: (to - from) / MINUTE + 2 }, (_, index) =>
    shownTime(from + (index - 1) * MINUTE, timeZone),
  ),
});

/**
 * The ticks of a schedule at these minutes of each day. It compares what Node shows at each instant, so it shares nothing
 * with the service's way from local times to instants. A minute that is missing is found from the jump of the clock.
 */
export function walkedTicks(
  { from, shown }: Walk,
  minutesOfDay: ReadonlySet<number>,
  { missing, duplicate }: { missing: Missing; duplicate: Duplicate },
): number[] {
  const to = from + (shown.length - 2) * MINUTE;
  const byLocal = new Map<number, number[]>();
  const shifted: number[] = [];
  for (let index = 1; index < shown.length; index += 1) {
    const [before, local, instant] = [shown[index - 1]!, shown[index]!, from + (index - 1) * MINUTE];
    if (missing === 'shift')
      for (let skipped = before + MINUTE; skipped < local; skipped += MINUTE)
        if (isAt(skipped, minutesOfDay)) shifted.push(instant + (skipped - before - MINUTE));
    if (isAt(local, minutesOfDay)) byLocal.set(local, [...(byLocal.get(local) ?? []), instant]);
  }
  const chosen = [...byLocal.values()].flatMap((instants) =>
    duplicate === 'both' ? instants : [duplicate === 'first' ? instants[0]! : instants.at(-1)!],
  );
  return [...new Set([...chosen, ...shifted])].filter((tick) => tick <= to).sort((a, b) => a - b);
}

const isAt = (local: number, minutesOfDay: ReadonlySet<number>): boolean =>
  minutesOfDay.has(Math.floor((local % (24 * HOUR)) / MINUTE));
