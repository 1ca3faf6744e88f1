import { nextTick } from '../../catalog/schedules/next-tick.js';
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
  /** All ticks of this version are decided up to `position`, where it ends. */
  | { kind: 'change'; position: number }
  | { kind: 'publish'; tick: number }
  | { kind: 'skip'; ticks: { scheduledFor: number; reason: string }[] };

/**
 * Returns what a schedule does now, if all ticks up to `position` are decided. `validUntil`: when the next version was made,
 * which decides the ticks after this time; null if there is none.
 */
export function nextStep(schedule: Schedule, position: number, validUntil: number | null, now: number): NextStep {
  const following = (after: number): number | null => {
    const tick = nextTick(schedule, after);
    return tick === null || (validUntil !== null && tick > validUntil) ? null : tick;
  };
  const skipped: { scheduledFor: number; reason: string }[] = [];
  let tick = following(position);
  while (tick !== null && dueAt(schedule, tick) <= now && skipped.length < MOST_SKIPPED) {
    const later = following(tick);
    const reason = reasonToSkip(schedule, tick, later, now);
    if (reason === null) break;
    skipped.push({ scheduledFor: tick, reason });
    tick = later;
  }
  if (skipped.length > 0) return { kind: 'skip', ticks: skipped };
  if (tick === null) return validUntil === null ? { kind: 'none' } : { kind: 'change', position: validUntil };
  const due = dueAt(schedule, tick);
  return due <= now ? { kind: 'publish', tick } : { kind: 'wait', until: due };
}

export const dueAt = ({ name, jitterMs }: Schedule, tick: number): number => tick + delayOf(name, tick, jitterMs);

function reasonToSkip(schedule: Schedule, tick: number, later: number | null, now: number): string | null {
  if (now - dueAt(schedule, tick) <= MISSED_AFTER_MS) return null;
  if (tick < now - schedule.catchUpMs) return 'missed, and older than catch_up';
  if (schedule.missed === 'skip') return 'missed';
  const hasLater = later !== null && dueAt(schedule, later) <= now;
  return schedule.missed === 'run_last' && hasLater ? `missed; the tick of ${toTimestamp(later)} is later` : null;
}
