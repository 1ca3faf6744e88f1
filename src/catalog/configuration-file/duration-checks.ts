import { parseDuration } from '../../common/durations.js';
import type { Diagnostics, Path } from '../diagnostics.js';

// Ten years: what is longer is a slip, and would leave the range of exact times.
const LONGEST_MS = 3650 * 86_400_000;

/** Why a duration of the right form makes no sense; null where it does. `zero` allows no time at all. */
export function durationProblem(duration: string | undefined, { zero = false } = {}): string | null {
  const milliseconds = duration === undefined ? null : parseDuration(duration);
  if (milliseconds === null) return null;
  if (milliseconds === 0 && !zero) return 'must be longer than zero';
  return milliseconds > LONGEST_MS ? 'must not be longer than 3650d' : null;
}

/** The same, noted under its path. */
export function checkDuration(duration: string | undefined, path: Path, errors: Diagnostics, { zero = false } = {}): void {
  const problem = durationProblem(duration, { zero });
  if (problem !== null) errors.add(path, problem);
}
