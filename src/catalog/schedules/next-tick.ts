import { endOfMatch, matches, nextMatch } from './cron-pattern.js';
import type { Schedule } from './schedule.js';
import { dateOf, instantsOf, LARGEST_CHANGE_MS, offsetsAround, wallTimeAt } from './wall-times.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/**
 * A search for a tick ends after so many exclusions in a row, because it may take a second: of days, of hours, or, where an
 * exception excludes a part of each hour, of minutes.
 */
const MOST_EXCLUDED = 20_000;

/** The result of a search. Without a tick, none is up to `noneUntil` (epoch ms); Infinity if there is none at all. */
export type Found = { tick: number } | { tick: null; noneUntil: number };

const NONE: Found = { tick: null, noneUntil: Infinity };

/** Looks for the first tick after an instant (epoch ms). */
export function findTick(schedule: Schedule, after: number): Found {
  let last = schedule.from === null ? after : Math.max(after, schedule.from - 1);
  for (let tries = 0; tries < MOST_EXCLUDED; tries += 1) {
    const next = nextTime(schedule, last);
    if (next === null || (schedule.until !== null && next > schedule.until)) return NONE;
    const excluded = excludedUntil(schedule, next);
    if (excluded === null) return { tick: next };
    last = excluded;
  }
  return { tick: null, noneUntil: last };
}

/** The first tick after an instant (epoch ms); null if a search finds none. */
export const nextTick = (schedule: Schedule, after: number): number | null => findTick(schedule, after).tick;

/** The ticks after `after` up to and including `until` (epoch ms), at most `limit`. */
export function ticksBetween(schedule: Schedule, after: number, until: number, limit: number): number[] {
  const ticks: number[] = [];
  for (let next = nextTick(schedule, after); next !== null && next <= until; next = nextTick(schedule, next)) {
    ticks.push(next);
    if (ticks.length === limit) break;
  }
  return ticks;
}

function nextTime({ times, timeZone, from, dst }: Schedule, after: number): number | null {
  if ('at' in times) return times.at.find((time) => time > after) ?? null;
  if ('cron' in times) return nextCronTime(times.cron, timeZone, dst, after);
  const start = from ?? 0;
  return start + (Math.floor((after - start) / times.everyMs) + 1) * times.everyMs;
}

/**
 * Around a change of the clocks, instants are in another order than local times. So the search begins earlier by the
 * size of the change, and ends when no later local time can be an earlier instant. Where no change is near, the next
 * local time is the next instant.
 */
function nextCronTime(cron: string, timeZone: string, dst: Schedule['dst'], after: number): number | null {
  const { least, most } = offsetsAround(after, timeZone);
  let wall = nextMatch(cron, wallTimeAt(after, timeZone) - (most - least));
  if (wall !== null && least === most && wall - most < after + LARGEST_CHANGE_MS) return wall - most;
  let best: number | null = null;
  while (wall !== null) {
    if (best !== null && wall - offsetsAround(best, timeZone).most >= best) break;
    for (const instant of instantsOf(wall, timeZone, dst))
      if (instant > after && (best === null || instant < best)) best = instant;
    wall = nextMatch(cron, wall);
  }
  return best;
}

/** Until when an exception holds at this instant (epoch ms); null if none does. */
function excludedUntil({ except, timeZone }: Schedule, instant: number): number | null {
  if (except.dates.size === 0 && except.crons.length === 0) return null;
  const wall = wallTimeAt(instant, timeZone);
  // A change of the clocks may come before the end of the hour or day. The next search then finds the rest of it.
  const { least, most } = offsetsAround(instant, timeZone);
  const cron = except.crons.find((source) => matches(source, wall));
  if (cron !== undefined) return instant + endOfMatch(cron, wall, least === most ? DAY_MS : MINUTE_MS) - wall;
  if (!except.dates.has(dateOf(wall))) return null;
  return least === most ? instant + DAY_MS - 1 - (wall % DAY_MS) : instant;
}
