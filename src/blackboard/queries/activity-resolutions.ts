import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../common/time-steps.js';

/** A length of steps for which events are counted, and how long the counts are kept. */
export interface Resolution {
  stepMs: number;
  keptMs: number;
}

/**
 * From fine to coarse; each is a multiple of the one before. Minutes are kept for longer than a day, because the first
 * step of a window may begin before the window.
 */
export const RESOLUTIONS: readonly Resolution[] = [
  { stepMs: MINUTE_MS, keptMs: DAY_MS + HOUR_MS },
  { stepMs: 15 * MINUTE_MS, keptMs: DAY_MS + HOUR_MS },
  { stepMs: HOUR_MS, keptMs: 31 * DAY_MS },
];
