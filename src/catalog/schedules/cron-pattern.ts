import { Cron } from 'croner';

import type { WallTime } from './wall-times.js';

const MOST_KEPT = 1_000;
const kept = new Map<string, Cron>();

function pattern(source: string): Cron {
  let cron = kept.get(source);
  if (!cron) {
    // The offset makes the library calculate without a time zone: wall-times.ts maps local times to instants.
    cron = new Cron(source, { mode: '5-or-6-parts', utcOffset: 0 });
    if (kept.size === MOST_KEPT) kept.clear();
    kept.set(source, cron);
  }
  return cron;
}

/** Returns what is wrong with a cron expression, or null. */
export function cronProblem(source: string): string | null {
  const reason = problemOf(source);
  return reason === null ? null : `is not a cron expression of five fields, or six with seconds: ${reason}`;
}

function problemOf(source: string): string | null {
  // The library would take it as a single time of the machine's zone.
  if (source.includes(':')) return 'it is a time, which belongs into at';
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

/** The last moment of what `matches` found at this time: of the second or of the minute. */
export const endOfMatch = (source: string, wall: WallTime): WallTime => {
  const length = hasSeconds(source) ? 1_000 : 60_000;
  return wall - (wall % length) + length - 1;
};

const fieldsOf = (source: string): string[] => source.trim().split(/\s+/);
const hasSeconds = (source: string): boolean => fieldsOf(source).length === 6;

/** Whether it runs in every hour, or every few hours, rather than at some hours. */
export const runsAllHours = (source: string): boolean => {
  const fields = fieldsOf(source);
  return source.trim() === '@hourly' || (fields.at(-4)?.startsWith('*') ?? false);
};
