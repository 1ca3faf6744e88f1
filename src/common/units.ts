const UNITS_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const ISO_UNITS_MS: Record<string, number> = { W: 604_800_000, D: 86_400_000, H: 3_600_000, M: 60_000, S: 1_000 };

const NUMBER = '\\d+(\\.\\d+)?';
const ISO_TIME = `T(${NUMBER}H(${NUMBER}M)?(${NUMBER}S)?|${NUMBER}M(${NUMBER}S)?|${NUMBER}S)`;
const ISO_DURATION = `P((${NUMBER}W(${NUMBER}D)?|${NUMBER}D)(${ISO_TIME})?|${ISO_TIME})`;
// Each unit may begin, and all smaller ones may follow.
const SHORT_DURATION = ['d', 'h', 'm', 's', 'ms']
  .map((unit, position, units) => [unit, ...units.slice(position + 1)])
  .map(([first, ...rest]) => NUMBER + first + rest.map((unit) => `(${NUMBER}${unit})?`).join(''))
  .join('|');

/**
 * The durations that `parseDuration` accepts. Without lookahead, because clients and tests generate values from it.
 */
export const DURATION_PATTERN = `^(${SHORT_DURATION}|${ISO_DURATION})$`;

const DURATION = new RegExp(DURATION_PATTERN);

/** Ten years. A longer duration in a configuration is a typing error, and would leave the range of exact times. */
export const LONGEST_MS = 3650 * 86_400_000;

/**
 * Milliseconds of a duration such as `500ms`, `30s`, `1h30m` or `30d`, or of an ISO 8601 duration such as `PT1H` or
 * `P2DT30M`; null if `text` is not one. Years and months are refused, because they have no fixed length.
 */
export function parseDuration(text: string): number | null {
  if (!DURATION.test(text)) return null;
  const units = text.startsWith('P') ? ISO_UNITS_MS : UNITS_MS;
  const parts = [...text.matchAll(/([\d.]+)(ms|[a-zA-Z])/g)];
  return Math.round(parts.reduce((sum, [, number, unit]) => sum + Number(number) * units[unit!]!, 0));
}

/** The duration in the form of the configuration, in the largest unit that divides it: `30d` for 2,592,000,000 ms. */
export function durationText(milliseconds: number): string {
  const [unit, length] = Object.entries(UNITS_MS).findLast(([, length]) => milliseconds % length === 0) ?? ['ms', 1];
  return `${milliseconds / length}${unit}`;
}

/** The duration in the form of ISO 8601, without weeks: `P1DT1H0.5S`. */
export function isoDurationText(milliseconds: number): string {
  const days = Math.floor(milliseconds / UNITS_MS.d!);
  const hours = Math.floor((milliseconds % UNITS_MS.d!) / UNITS_MS.h!);
  const minutes = Math.floor((milliseconds % UNITS_MS.h!) / UNITS_MS.m!);
  const seconds = (milliseconds % UNITS_MS.m!) / 1_000;
  const part = (count: number, unit: string): string => (count === 0 ? '' : `${count}${unit}`);
  const time = part(hours, 'H') + part(minutes, 'M') + part(seconds, 'S');
  if (time !== '') return `P${part(days, 'D')}T${time}`;
  return days === 0 ? 'PT0S' : `P${days}D`;
}

const UNITS_BYTES: Record<string, number> = { B: 1, KiB: 1_024, MiB: 1_024 ** 2, GiB: 1_024 ** 3 };

/** Bytes of a size such as `1MiB`, `512KiB` or `1048576`; null if `text` is not one. */
export function parseSize(text: string): number | null {
  const match = /^(\d+) ?(B|KiB|MiB|GiB)?$/.exec(text);
  return match ? Number(match[1]) * UNITS_BYTES[match[2] ?? 'B']! : null;
}

/** The size in the form of `parseSize`, in the largest unit that divides it: `32MiB` for 33,554,432 bytes. */
export function sizeText(bytes: number): string {
  const [unit, size] = Object.entries(UNITS_BYTES).findLast(([, size]) => bytes % size === 0) ?? ['B', 1];
  return `${bytes / size}${unit}`;
}
