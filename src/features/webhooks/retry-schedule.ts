const JITTER = 0.2;

/**
 * When a delivery is tried again (epoch ms) after a try that failed, give or take 20 %, so that what failed together does not come
 * back together; null after the last one. `times`: in ms after the first try. A late try (this service was down, or its origin was
 * not asked) moves those after it, so that none follow each other at once. `random` is from [0, 1).
 */
export function nextTryAt(times: readonly number[], { attempt, startedAt }: { attempt: number; startedAt: number }, random: number): number | null {
  const time = times[attempt - 1];
  if (time === undefined) return null;
  const pause = time - (times[attempt - 2] ?? 0);
  return startedAt + Math.round(pause * (1 - JITTER + 2 * JITTER * random));
}
