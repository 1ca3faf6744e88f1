import { parseDuration } from '../../common/units.js';
import type { Remaining } from '../agent-options.js';
import type { Diagnostics, Path } from '../diagnostics.js';
import { cronProblem, runsAllHours } from '../schedules/cron-pattern.js';
import { nextTick } from '../schedules/next-tick.js';
import type { Schedule, ScheduleOptions, Times } from '../schedules/schedule.js';
import { instantsOf, isTimeZone, readTime } from '../schedules/wall-times.js';
import { checkDuration } from './duration-keys.js';

type Given = Remaining<ScheduleOptions>;

const DAY_MS = 86_400_000;
/** Shorter distances would be more work than clocks and databases can keep up with. */
const SHORTEST_EVERY_MS = 1_000;
const TIME = 'is not a time; write one such as 2026-12-24, 2026-12-24T18:00 or 2026-12-24T18:00Z';

/**
 * Makes the schedule with every default filled in. Adds what the schema cannot express to `errors`, and then returns
 * null.
 */
export function defineSchedule(name: string, given: Given, path: Path, errors: Diagnostics): Schedule | null {
  const add = (below: Path, message: string): void => {
    if (!errors.touches([...path, ...below])) errors.add([...path, ...below], message);
  };
  checkGiven(given, path, add, errors);
  if (errors.touches(path)) return null;
  const schedule = define(name, given);
  if (nextTick(schedule, -1) === null) add([], 'would never tick; change its times, from, until or except');
  return errors.touches(path) ? null : schedule;
}

type Add = (below: Path, message: string) => void;

function checkGiven(given: Given, path: Path, add: Add, errors: Diagnostics): void {
  const kinds = (['cron', 'every', 'at'] as const).filter((kind) => given[kind] !== undefined);
  const wrong = (['cron', 'every', 'at'] as const).some((kind) => errors.touches([...path, kind]));
  // Another wrong key may be one of them that is misspelt.
  const isMisspelt = kinds.length === 0 && errors.touches(path) && !errors.touches([...path, 'publishes']);
  if (kinds.length !== 1 && !wrong && !isMisspelt) errors.add(path, 'needs exactly one of cron, every and at');
  const cron = given.cron === undefined ? null : cronProblem(given.cron);
  if (cron !== null) add(['cron'], cron);
  checkDuration(given.every, [...path, 'every'], errors);
  checkDuration(given.jitter, [...path, 'jitter'], errors, { zero: true });
  checkDuration(given.catch_up, [...path, 'catch_up'], errors);
  const every = given.every === undefined ? null : parseDuration(given.every);
  if (every !== null && every < SHORTEST_EVERY_MS) add(['every'], 'must not be shorter than 1s');
  if (given.time_zone !== undefined && !isTimeZone(given.time_zone))
    add(['time_zone'], `is not a time zone of the IANA database: ${given.time_zone}; write one such as Europe/Berlin`);
  for (const [index, time] of timesOf(given).entries())
    if (time !== undefined && readTime(time) === null) add(Array.isArray(given.at) ? ['at', index] : ['at'], TIME);
  for (const key of ['from', 'until'] as const)
    if (given[key] !== undefined && readTime(given[key]) === null) add([key], TIME);
  for (const [index, exception] of (given.except ?? []).entries())
    if (exception !== undefined && !isDate(exception) && cronProblem(exception) !== null)
      add(['except', index], 'is neither a date such as 2026-12-24 nor a cron expression such as "* 12 * * *"');
  checkOrder(given, add);
}

function checkOrder({ from, until, time_zone: zone = 'UTC' }: Given, add: Add): void {
  if (from === undefined || until === undefined || !isTimeZone(zone)) return;
  if (readTime(from) === null || readTime(until) === null) return;
  if (boundary(until, zone, 'end') < boundary(from, zone, 'start')) add(['until'], 'must not be before from');
}

const timesOf = ({ at }: Given): (string | undefined)[] => (at === undefined ? [] : Array.isArray(at) ? at : [at]);

export function isDate(text: string): boolean {
  const time = readTime(text);
  return time !== null && 'wall' in time && time.isDate;
}

function define(name: string, given: Given): Schedule {
  const timeZone = given.time_zone ?? 'UTC';
  const isFrequent = given.cron !== undefined && runsAllHours(given.cron);
  const dst: Schedule['dst'] = {
    missing: given.dst?.missing ?? 'shift',
    duplicate: given.dst?.duplicate ?? (isFrequent ? 'both' : 'first'),
  };
  const publishes: Partial<ScheduleOptions['publishes']> = given.publishes ?? {};
  const except = present(given.except);
  return {
    name,
    description: given.description ?? '',
    times: defineTimes(given, timeZone, dst),
    timeZone,
    publishes: {
      type: publishes.type ?? '',
      payload: (publishes.payload ?? null) as Schedule['publishes']['payload'],
      tags: present(publishes.tags),
      partitionKey: publishes.partition_key ?? null,
    },
    jitterMs: milliseconds(given.jitter) ?? 0,
    from: given.from === undefined ? null : boundary(given.from, timeZone, 'start'),
    until: given.until === undefined ? null : boundary(given.until, timeZone, 'end'),
    except: { dates: new Set(except.filter(isDate)), crons: except.filter((text) => !isDate(text)) },
    overlap: given.overlap ?? 'allow',
    missed: given.missed ?? 'run_all',
    catchUpMs: milliseconds(given.catch_up) ?? DAY_MS,
    dst,
  };
}

function defineTimes(given: Given, timeZone: string, dst: Schedule['dst']): Times {
  if (given.cron !== undefined) return { cron: given.cron };
  if (given.every !== undefined) return { everyMs: parseDuration(given.every)! };
  const instants = present(timesOf(given)).flatMap((text) => {
    const time = readTime(text)!;
    return 'instant' in time ? [time.instant] : instantsOf(time.wall, timeZone, dst);
  });
  return { at: [...new Set(instants)].sort((a, b) => a - b) };
}

/** The instant of a local time, or the start or the end of a day. */
export function boundary(text: string, timeZone: string, edge: 'start' | 'end'): number {
  const time = readTime(text)!;
  if ('instant' in time) return time.instant;
  const isEndOfDay = edge === 'end' && time.isDate;
  const wall = isEndOfDay ? time.wall + DAY_MS : time.wall;
  const duplicate = edge === 'end' && !isEndOfDay ? 'last' : 'first';
  const [instant] = instantsOf(wall, timeZone, { missing: 'shift', duplicate }) as [number];
  return isEndOfDay ? instant - 1 : instant;
}

const milliseconds = (duration: string | undefined): number | null =>
  duration === undefined ? null : parseDuration(duration);

const present = <T>(items: (T | undefined)[] | undefined): T[] => (items ?? []).filter((item) => item !== undefined);
