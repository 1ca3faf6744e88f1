const UNITS_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a configuration duration such as `500ms`, `30s`, `5m`, `2h` or `30d`; null if `text` is not one. */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text);
  return match ? Math.round(Number(match[1]) * UNITS_MS[match[2]!]!) : null;
}

/** The duration in the form of the configuration, in the largest unit that divides it: `30d` for 2,592,000,000 ms. */
export function durationText(milliseconds: number): string {
  const [unit, length] = Object.entries(UNITS_MS).findLast(([, length]) => milliseconds % length === 0) ?? ['ms', 1];
  return `${milliseconds / length}${unit}`;
}

const NUMBER = '\\d+(\\.\\d+)?';
const ISO_TIME = `T(${NUMBER}H(${NUMBER}M)?(${NUMBER}S)?|${NUMBER}M(${NUMBER}S)?|${NUMBER}S)`;

/**
 * The durations that `parseIsoDuration` accepts. Without lookahead, because clients and tests generate values from it.
 */
export const ISO_DURATION_PATTERN = `^P((${NUMBER}W(${NUMBER}D)?|${NUMBER}D)(${ISO_TIME})?|${ISO_TIME})$`;

const ISO_DURATION = new RegExp(ISO_DURATION_PATTERN);
const ISO_UNITS_MS: Record<string, number> = { W: 604_800_000, D: 86_400_000, H: 3_600_000, M: 60_000, S: 1_000 };

/**
 * Milliseconds of an ISO 8601 duration such as `PT1H` or `P2DT30M`; null if `text` is not one. Years and months are
 * refused, because they have no fixed length.
 */
export function parseIsoDuration(text: string): number | null {
  if (!ISO_DURATION.test(text)) return null;
  const parts = [...text.matchAll(/([\d.]+)([WDHMS])/g)];
  return Math.round(parts.reduce((sum, [, number, unit]) => sum + Number(number) * ISO_UNITS_MS[unit!]!, 0));
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
