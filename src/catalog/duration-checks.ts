import { parseDuration } from '../common/durations.js';
import type { Findings, Path } from './mistakes.js';

// Ten years: what is longer is a slip, and would leave the range of exact times.
const LONGEST_MS = 3650 * 86_400_000;

/** Finds durations of the right form that make no sense; `zero` allows no time at all. */
export function checkDuration(duration: string | undefined, path: Path, mistakes: Findings, { zero = false } = {}): void {
  const milliseconds = duration === undefined ? null : parseDuration(duration);
  if (milliseconds === null) return;
  if (milliseconds === 0 && !zero) mistakes.add(path, 'must be longer than no time at all');
  if (milliseconds > LONGEST_MS) mistakes.add(path, 'must not be longer than 3650d');
}
