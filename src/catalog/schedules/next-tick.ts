import { endOfMatch, matches, nextMatch } from './cron-pattern.js';
import type { Schedule } from './schedule.js';
import { dateOf, instantsOf, LARGEST_CHANGE_MS, offsetsAround, wallTimeAt } from './wall-times.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/**
 * A search ends after so many exclusions, because nothing else can run meanwhile: of days, of hours, or, where an exception
 * excludes a part of each hour, of minutes.
 */
const MOST_EXCLUDED = 20_000;
/** A look at so many exceptions that are cron expressions takes as long as the rest of an exclusion. */
const CHECKED_MEANWHILE = 50;

/** The exclusions that are left to a search of one or more ticks. */
class SearchBudget {
  private left = MOST_EXCLUDED;

  get isUsed(): boolean {
    return this.left <= 0;
  }

  exclude({ except }: Schedule): void {
    this.left -= 1 + except.crons.length / CHECKED_MEANWHILE;
  }
}

/** The result of a search. Without a tick, none is up to `noneUntil` (epoch ms); Infinity if there is none at all. */
export type Found = { tick: number } | { tick: null; noneUntil: number };

const NONE: Found = { tick: null, noneUntil: Infinity };

/** Looks for the first tick after an instant (epoch ms). */
export const findTick = (schedule: Schedule, after: number): Found =>
  search(schedule, after, Infinity, new SearchBudget());

function search(schedule: Schedule, after: number, upTo: number, budget: SearchBudget): Found {
  let last = schedule.from === null ? after : Math.max(after, schedule.from - 1);
  while (!budget.isUsed) {
    const next = nextTime(schedule, last);
    if (next === null || next > Math.min(schedule.until ?? Infinity, upTo)) return NONE;
    const excluded = excludedUntil(schedule, next);
    if (excluded === null) return { tick: next };
    budget.exclude(schedule);
    last = excluded;
  }
  return { tick: null, noneUntil: last };
}

/** The first tick after an instant (epoch ms); null if a search finds none. */
export const nextTick = (schedule: Schedule, after: number): number | null => findTick(schedule, after).tick;

/** The ticks after `after` up to and including `until` (epoch ms), at most `limit`. Fewer if a search ends before. */
export function ticksBetween(schedule: Schedule, after: number, until: number, limit: number): number[] {
  const budget = new SearchBudget();
  const ticks: number[] = [];
  for (let last = after; ticks.length < limit;) {
    const { tick } = search(schedule, last, until, budget);
    if (tick === null) break;
    ticks.push(tick);
    last = tick;
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
  const cron = except.crons.find((source) => matches(source, wall));
  const isDate = except.dates.has(dateOf(wall));
  if (cron === undefined && !isDate) return null;
  const end = cron === undefined ? wall - (wall % DAY_MS) + DAY_MS - 1 : endOfMatch(cron, wall, DAY_MS);
  const last = instant + end - wall;
  if (!changesClocks(instant, last, timeZone)) return last;
  // A change of the clocks comes before the end of the hour or day. The next search finds the rest of it.
  return cron === undefined ? instant : instant + endOfMatch(cron, wall, MINUTE_MS) - wall;
}

/** Whether the clocks change between these instants, at most a day apart, or close to them. */
function changesClocks(first: number, last: number, timeZone: string): boolean {
  const [start, end] = [offsetsAround(first, timeZone), offsetsAround(last, timeZone)];
  return Math.min(start.least, end.least) < Math.max(start.most, end.most);
}
