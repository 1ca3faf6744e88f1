import { findTick, type Found } from '../../catalog/schedules/next-tick.js';
import type { Schedule } from '../../catalog/schedules/schedule.js';
import { toTimestamp } from '../../common/timestamp.js';
import { delayOf } from './tick-id.js';

/** A tick that is later than this was missed: no process could publish it in time. */
const MISSED_AFTER_MS = 60_000;
/** Ticks that one transaction skips. */
const MOST_SKIPPED = 1_000;

export type NextStep =
  | { kind: 'none' }
  | { kind: 'wait'; until: number }
  /** No tick is left up to `position`: there the version ends, or the search for a tick continues. */
  | { kind: 'advance'; position: number }
  | { kind: 'publish'; tick: number }
  | { kind: 'skip'; ticks: { scheduledFor: number; reason: string }[] };

/**
 * Returns what a schedule does now, if all ticks up to `position` are decided. `validUntil`: when the next version was made,
 * which decides the ticks after this time; null if there is none.
 */
export function nextStep(schedule: Schedule, position: number, validUntil: number | null, now: number): NextStep {
  const following = (after: number): Found => {
    const found = findTick(schedule, after);
    const end = found.tick ?? found.noneUntil;
    return validUntil !== null && end > validUntil ? { tick: null, noneUntil: validUntil } : found;
  };
  const upcoming = (found: Found): Upcoming | null => {
    if (found.tick === null) return null;
    const later = following(found.tick);
    return { tick: found.tick, due: dueAt(schedule, found.tick, later.tick ?? validUntil), later };
  };
  const skipped: { scheduledFor: number; reason: string }[] = [];
  let found = following(position);
  let next = upcoming(found);
  while (next && next.due <= now && skipped.length < MOST_SKIPPED) {
    const later = upcoming(next.later);
    const reason = reasonToSkip(schedule, next, later, now);
    if (reason === null) break;
    skipped.push({ scheduledFor: next.tick, reason });
    found = next.later;
    next = later;
  }
  if (skipped.length > 0) return { kind: 'skip', ticks: skipped };
  if (next) return next.due <= now ? { kind: 'publish', tick: next.tick } : { kind: 'wait', until: next.due };
  return withoutTick(found.tick ?? found.noneUntil, now);
}

/** A tick, when it is due, and what comes after it. */
interface Upcoming {
  tick: number;
  due: number;
  later: Found;
}

function withoutTick(until: number, now: number): NextStep {
  if (until === Infinity) return { kind: 'none' };
  return until <= now ? { kind: 'advance', position: until } : { kind: 'wait', until };
}

/**
 * A tick waits for its jitter, but not beyond the time of the `following` one: ticks are decided in their order, so that the
 * following one would have to wait with it.
 */
function dueAt({ name, jitterMs }: Schedule, tick: number, following: number | null): number {
  return tick + delayOf(name, tick, Math.min(jitterMs, (following ?? Infinity) - tick));
}

function reasonToSkip(schedule: Schedule, { due }: Upcoming, later: Upcoming | null, now: number): string | null {
  if (now - due > schedule.catchUpMs) return 'missed, and older than catch_up';
  if (now - due <= MISSED_AFTER_MS) return null;
  if (schedule.missed === 'skip') return 'missed';
  const hasLater = later !== null && later.due <= now;
  return schedule.missed === 'run_last' && hasLater ? `missed; the tick of ${toTimestamp(later.tick)} is later` : null;
}
