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
  const skipped: { scheduledFor: number; reason: string }[] = [];
  let found = following(position);
  while (found.tick !== null && dueAt(schedule, found.tick) <= now && skipped.length < MOST_SKIPPED) {
    const later = following(found.tick);
    const reason = reasonToSkip(schedule, found.tick, later.tick, now);
    if (reason === null) break;
    skipped.push({ scheduledFor: found.tick, reason });
    found = later;
  }
  if (skipped.length > 0) return { kind: 'skip', ticks: skipped };
  if (found.tick === null) return withoutTick(found.noneUntil, now);
  const due = dueAt(schedule, found.tick);
  return due <= now ? { kind: 'publish', tick: found.tick } : { kind: 'wait', until: due };
}

function withoutTick(until: number, now: number): NextStep {
  if (until === Infinity) return { kind: 'none' };
  return until <= now ? { kind: 'advance', position: until } : { kind: 'wait', until };
}

export const dueAt = ({ name, jitterMs }: Schedule, tick: number): number => tick + delayOf(name, tick, jitterMs);

function reasonToSkip(schedule: Schedule, tick: number, later: number | null, now: number): string | null {
  if (now - dueAt(schedule, tick) <= MISSED_AFTER_MS) return null;
  if (tick < now - schedule.catchUpMs) return 'missed, and older than catch_up';
  if (schedule.missed === 'skip') return 'missed';
  const hasLater = later !== null && dueAt(schedule, later) <= now;
  return schedule.missed === 'run_last' && hasLater ? `missed; the tick of ${toTimestamp(later)} is later` : null;
}
