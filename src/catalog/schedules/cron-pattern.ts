import { Cron } from 'croner';

import { shown } from '../../common/short-text.js';
import type { WallTime } from './wall-times.js';

const NICKNAMES = '@hourly, @daily, @weekly, @monthly and @yearly';
const FIELDS = [
  { name: 'second', values: '0 to 59' },
  { name: 'minute', values: '0 to 59' },
  { name: 'hour', values: '0 to 23' },
  { name: 'day of the month', values: '1 to 31, or L' },
  { name: 'month', values: '1 to 12, or JAN to DEC' },
  { name: 'weekday', values: '0 to 7, or SUN to SAT' },
];
/** The fields of an expression that matches always. */
const ANY_TIME = ['*', '*', '*', '*', '*', '*'];
const MOST_KEPT = 1_000;
const kept = new Map<string, { cron: Cron; unit?: number }>();

function keptPattern(source: string): { cron: Cron; unit?: number } {
  let found = kept.get(source);
  if (!found) {
    // The offset makes the library calculate without a time zone: wall-times.ts maps local times to instants.
    found = { cron: new Cron(source, { mode: '5-or-6-parts', utcOffset: 0 }) };
    if (kept.size === MOST_KEPT) kept.clear();
    kept.set(source, found);
  }
  return found;
}

const pattern = (source: string): Cron => keptPattern(source).cron;

/** Returns what is wrong with a cron expression, or null. */
export function cronProblem(source: string): string | null {
  const reason = problemOf(source);
  return reason === null ? null : `is not a cron expression of five fields, or six with seconds: ${reason}`;
}

function problemOf(source: string): string | null {
  // The library would take it as a single time of the machine's zone.
  if (source.includes(':')) return 'it is a time, which belongs into at';
  if (/^\s*@reboot\s*$/i.test(source)) return '@reboot is not a time';
  const fields = fieldsOf(source);
  if (!isNickname(source) && fields.length !== 5 && fields.length !== 6)
    return `it has ${fields.length} field${fields.length === 1 ? '' : 's'}`;
  const reason = reasonOf(source);
  if (reason === null) return null;
  if (isNickname(source)) return `${shown(source.trim())} is none of ${NICKNAMES}; use every for an interval`;
  // The library's reasons count days and months from zero, and have numbers in place of the names that the author wrote.
  const parts = hasSeconds(source) ? fields : ['0', ...fields];
  const wrong = parts.findIndex((field, place) => reasonOf(ANY_TIME.with(place, field).join(' ')) !== null);
  if (wrong === -1) return reason;
  const { name, values } = FIELDS[wrong]!;
  return `the ${name} ${shown(parts[wrong]!)} is not valid; use ${values}`;
}

function reasonOf(source: string): string | null {
  try {
    pattern(source);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
  }
}

/** Returns the first local time after `wall` that the expression matches; null if there is none. */
export const nextMatch = (source: string, wall: WallTime): WallTime | null =>
  pattern(source).nextRun(new Date(wall))?.getTime() ?? null;

/** Whether a local time matches. An expression without seconds matches the whole minute. */
export const matches = (source: string, wall: WallTime): boolean =>
  pattern(source).match(new Date(hasSeconds(source) ? wall : wall - (wall % 60_000)));

/**
 * The last moment of the second, minute, hour or day that matches as a whole at this time. `longest`: the length of the
 * longest unit that may be returned (ms).
 */
export const endOfMatch = (source: string, wall: WallTime, longest: number): WallTime => {
  const length = Math.min(unitOf(source), longest);
  return wall - (wall % length) + length - 1;
};

/** The fields for the time of the day. `unit`: the length (ms) of one of its values. */
const TIME_FIELDS = [
  { unit: 1_000, values: 60 },
  { unit: 60_000, values: 60 },
  { unit: 3_600_000, values: 24 },
];
const DAY_MS = 86_400_000;

/** The length (ms) of the largest unit of time that matches as a whole wherever a part of it matches. */
function unitOf(source: string): number {
  const found = keptPattern(source);
  return (found.unit ??= findUnit(source));
}

function findUnit(source: string): number {
  const fields = fieldsOf(source);
  const ofTime = hasSeconds(source) ? fields : ['*', ...fields];
  const partial = isNickname(source) ? 1 : TIME_FIELDS.findIndex((_, place) => !hasAllValues(ofTime[place]!, place));
  return TIME_FIELDS[partial]?.unit ?? DAY_MS;
}

function hasAllValues(field: string, place: number): boolean {
  const { unit, values } = TIME_FIELDS[place]!;
  const alone = pattern(ANY_TIME.with(place, field).join(' '));
  return Array.from({ length: values }, (_, value) => new Date(value * unit)).every((time) => alone.match(time));
}

const fieldsOf = (source: string): string[] => source.trim().split(/\s+/);
const hasSeconds = (source: string): boolean => fieldsOf(source).length === 6;

const isNickname = (source: string): boolean => source.trim().startsWith('@');

/** Whether it runs in every hour, or every few hours, rather than at some hours. */
export const runsAllHours = (source: string): boolean => {
  const fields = fieldsOf(source);
  return source.trim() === '@hourly' || (fields.at(-4)?.startsWith('*') ?? false);
};
