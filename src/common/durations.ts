const UNITS_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a configuration duration such as `500ms`, `30s`, `5m`, `2h` or `30d`; null where `text` is none. */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(text);
  return match ? Math.round(Number(match[1]) * UNITS_MS[match[2]!]!) : null;
}

/** As the configuration says it, in its largest unit that divides it: `30d` for 2,592,000,000 ms. */
export function durationText(milliseconds: number): string {
  const [unit, length] = Object.entries(UNITS_MS).findLast(([, length]) => milliseconds % length === 0) ?? ['ms', 1];
  return `${milliseconds / length}${unit}`;
}

const ISO_DURATION = /^P(?=.)(?:(\d+(?:\.\d+)?)W)?(?:(\d+(?:\.\d+)?)D)?(?:T(?=.)(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?$/;

/**
 * Milliseconds of an ISO 8601 duration such as `PT1H` or `P2DT30M`; null where `text` is none. Years and months have no
 * fixed length and are refused.
 */
export function parseIsoDuration(text: string): number | null {
  const match = ISO_DURATION.exec(text);
  if (!match) return null;
  const [weeks, days, hours, minutes, seconds] = match.slice(1).map((part) => Number(part ?? 0)) as [number, number, number, number, number];
  return Math.round((((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60_000 + seconds * 1_000);
}
