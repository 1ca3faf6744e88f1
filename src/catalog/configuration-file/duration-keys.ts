import type { JsonObject } from '../../common/json.js';
import { DURATION_PATTERN, LONGEST_MS, parseDuration } from '../../common/units.js';
import type { Diagnostics, Path } from '../diagnostics.js';

/** The schema of a key whose value is a duration. */
export const durationSchema = (description: string, fallback?: string): JsonObject => ({
  description,
  type: 'string',
  pattern: DURATION_PATTERN,
  errorMessage: 'must be a duration such as 500ms, 30s, 5m, 2h or 30d',
  ...(fallback === undefined ? {} : { default: fallback }),
});

/** Returns why a valid duration is out of range, or null. `zero` allows zero. */
export function durationProblem(duration: string | undefined, { zero = false } = {}): string | null {
  const milliseconds = duration === undefined ? null : parseDuration(duration);
  if (milliseconds === null) return null;
  if (milliseconds === 0 && !zero) return 'must be longer than zero';
  return milliseconds > LONGEST_MS ? 'must not be longer than 3650d' : null;
}

/** Adds the result of `durationProblem` to the diagnostics. */
export function checkDuration(
  duration: string | undefined,
  path: Path,
  errors: Diagnostics,
  { zero = false } = {},
): void {
  const problem = durationProblem(duration, { zero });
  if (problem !== null) errors.add(path, problem);
}
