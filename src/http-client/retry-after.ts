/** The longest that a receiver may ask for, in ms. */
const LONGEST_RETRY_AFTER_MS = 86_400_000;

/**
 * The time in a receiver's `Retry-After` header (epoch ms; RFC 9110, 10.2.3); null if it is absent, invalid or in the
 * past.
 */
export function retryAfter(header: string | string[] | undefined, now: number): number | null {
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  const time = /^\d+$/.test(text) ? now + Number(text) * 1_000 : Date.parse(text);
  return Number.isNaN(time) || time <= now ? null : Math.min(time, now + LONGEST_RETRY_AFTER_MS);
}
