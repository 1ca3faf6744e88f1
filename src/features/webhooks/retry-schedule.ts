const JITTER = 0.2;

/**
 * Returns the time of the next attempt (epoch ms) after a failed one, or null after the last one. `times` are in ms
 * after the first attempt. The pause varies by 20 %, so that deliveries that failed together are not retried together;
 * `random` is from [0, 1). A late attempt (the service was down, or the origin was held back) moves the following ones,
 * so that they do not follow each other immediately.
 */
export function nextTryAt(
  times: readonly number[],
  { attempt, startedAt }: { attempt: number; startedAt: number },
  random: number,
): number | null {
  const time = times[attempt - 1];
  if (time === undefined) return null;
  const pause = time - (times[attempt - 2] ?? 0);
  return startedAt + Math.round(pause * (1 - JITTER + 2 * JITTER * random));
}
