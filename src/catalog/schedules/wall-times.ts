import { Temporal } from 'temporal-polyfill';

import type { Schedule } from './schedule.js';

/**
 * A local date and time as the epoch ms that it would have in UTC, so that cron patterns can be matched without a time
 * zone.
 */
export type WallTime = number;

/** Milliseconds that local time is ahead of UTC at this instant. */
export const offsetAt = (instant: number, timeZone: string): number =>
  Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(timeZone).offsetNanoseconds / 1_000_000;

export const wallTimeAt = (instant: number, timeZone: string): WallTime => instant + offsetAt(instant, timeZone);

/** The instants at which a local time occurs, in increasing order; none, one or two. */
export function instantsOf(wall: WallTime, timeZone: string, { missing, duplicate }: Schedule['dst']): number[] {
  const local = Temporal.Instant.fromEpochMilliseconds(wall).toZonedDateTimeISO('UTC').toPlainDateTime();
  const instant = (disambiguation: 'earlier' | 'later'): number =>
    local.toZonedDateTime(timeZone, { disambiguation }).epochMilliseconds;
  const [earlier, later] = [instant('earlier'), instant('later')];
  if (earlier === later) return [earlier];
  // In a gap, `later` is the same time on the clock that was not changed: 02:30 becomes 03:30.
  if (wallTimeAt(earlier, timeZone) !== wall) return missing === 'shift' ? [later] : [];
  if (duplicate === 'both') return [earlier, later];
  return [duplicate === 'first' ? earlier : later];
}

/** No time zone has moved its clocks by more since 2012. */
export const LARGEST_CHANGE_MS = 4 * 3_600_000;

/**
 * The smallest and the largest offset close to an instant. They differ only around a change of the clocks; twice its size,
 * because a repeated time begins before the change.
 */
export function offsetsAround(instant: number, timeZone: string): { least: number; most: number } {
  const offsets = [-2 * LARGEST_CHANGE_MS, 0, 2 * LARGEST_CHANGE_MS].map((distance) =>
    offsetAt(instant + distance, timeZone),
  );
  return { least: Math.min(...offsets), most: Math.max(...offsets) };
}

/** The library would also take a whole time with a zone as the name of one. */
const ZONE = /^([a-z][\w+/-]*|[+-]\d\d(:?\d\d)?)$/i;

export function isTimeZone(name: string): boolean {
  if (!ZONE.test(name)) return false;
  try {
    offsetAt(0, name);
    return true;
  } catch {
    return false;
  }
}

/** A local time that an author wrote, or an instant if the text has an offset. */
export type WrittenTime = { instant: number } | { wall: WallTime; isDate: boolean };

const DATE = /^\d{4}-\d\d-\d\d$/;
/** Without the second 60, which the library would take as 59. */
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:[0-5]\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?$/;

/** Reads `2026-12-24`, `2026-12-24T18:00` (local) or `2026-12-24T18:00Z`; null if `text` is none of them. */
export function readTime(text: string): WrittenTime | null {
  const isDate = DATE.test(text);
  const offset = DATE_TIME.exec(text)?.[3];
  if (!isDate && !DATE_TIME.test(text)) return null;
  try {
    if (offset !== undefined) return { instant: Temporal.Instant.from(text).epochMilliseconds };
    const wall = Temporal.PlainDateTime.from(text, { overflow: 'reject' }).toZonedDateTime('UTC').epochMilliseconds;
    return { wall, isDate };
  } catch {
    return null;
  }
}

export const dateOf = (wall: WallTime): string => new Date(wall).toISOString().slice(0, '2026-12-24'.length);

/** The local time with its offset, such as `2026-12-24T18:00:00+01:00`. */
export const localText = (instant: number, timeZone: string): string =>
  Temporal.Instant.fromEpochMilliseconds(instant)
    .toZonedDateTimeISO(timeZone)
    .toString({ timeZoneName: 'never', smallestUnit: 'second' });
