const JITTER = 0.2;
/** The longest that a receiver may ask for, in ms. */
const LONGEST_RETRY_AFTER_MS = 86_400_000;

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

/** When a receiver wants to be asked again (epoch ms), by its header `Retry-After` (RFC 9110, 10.2.3); null where it says nothing that can be read. */
export function retryAfter(header: string | string[] | undefined, now: number): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  const time = /^\d+$/.test(text) ? now + Number(text) * 1_000 : Date.parse(text);
  return Number.isNaN(time) || time <= now ? null : Math.min(time, now + LONGEST_RETRY_AFTER_MS);
}
