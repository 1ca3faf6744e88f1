import type { Rate } from '../../catalog/limits.js';

/**
 * GCRA, the generic cell rate algorithm. `usedUntil` is the time until which the units so far last at the rate (epoch
 * ms, with fractions); it may be ahead of now by the length of a burst.
 */
const lengthOf = ({ count, perMs }: Rate, units: number): number => (units * perMs) / count;

/** Rounding of the fractions must not postpone a start. */
const TOLERANCE_MS = 1e-3;

/** The earliest time at which these units may start (epoch ms). */
export const earliestStart = (rate: Rate, usedUntil: number, units: number): number =>
  Math.ceil(usedUntil + lengthOf(rate, units) - lengthOf(rate, rate.burst) - TOLERANCE_MS);

/** `usedUntil` after these units have started at `now`. */
export const afterStart = (rate: Rate, usedUntil: number, units: number, now: number): number =>
  Math.max(usedUntil, now) + lengthOf(rate, units);

/** How far `usedUntil` can be ahead of the last start, in ms. */
export const burstLength = (rate: Rate): number => lengthOf(rate, rate.burst);

/** How long one unit lasts, in ms. */
export const unitLength = (rate: Rate): number => lengthOf(rate, 1);

/** How many whole units may start at `now`. */
export function unitsLeft(rate: Rate, usedUntil: number, now: number): number {
  const rounded = Math.floor(rate.burst - (Math.max(usedUntil - now, 0) - TOLERANCE_MS) / lengthOf(rate, 1));
  // `earliestStart` decides, because both must give the same answer where rounding matters.
  let units = Math.max(0, Math.min(rounded + 1, rate.burst));
  while (units > 0 && earliestStart(rate, usedUntil, units) > now) units -= 1;
  return units;
}
