import stringWidth from 'string-width';

const graphemes = new Intl.Segmenter();

/** Cuts a line to a number of terminal columns, and marks the cut with `…`. */
export function cut(line: string, columns: number): string {
  if (stringWidth(line) <= columns) return line;
  let [kept, width] = ['', 0];
  for (const { segment } of graphemes.segment(line)) {
    width += stringWidth(segment);
    if (width > columns - 1) break;
    kept += segment;
  }
  return columns > 0 ? `${kept}…` : '';
}

/** Fills a line with spaces up to a number of terminal columns. */
export function pad(line: string, columns: number, isRight = false): string {
  const space = ' '.repeat(Math.max(0, columns - stringWidth(line)));
  return isRight ? space + line : line + space;
}

export const count = (items: number): string => items.toLocaleString('en-US');

/** `1 error`, `2 errors`. */
export const countOf = (items: number, noun: string): string => `${count(items)} ${noun}${items === 1 ? '' : 's'}`;

/** A duration in whole seconds, in its two largest units. */
export function duration(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3_600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${count(Math.floor(whole / 3_600))} h ${Math.floor((whole % 3_600) / 60)} min`;
}

/** A measured time: `12 ms`, `2.84 s`, `3 min 4 s`. */
export function elapsed(milliseconds: number): string {
  if (milliseconds < 1_000) return `${milliseconds} ms`;
  return milliseconds < 60_000 ? `${(milliseconds / 1_000).toFixed(2)} s` : duration(milliseconds / 1_000);
}

/** The time between two timestamps; null if one is missing. */
export const between = (from: string | null, to: string | null): string | null =>
  from === null || to === null ? null : elapsed(Math.max(0, Date.parse(to) - Date.parse(from)));

/** A timestamp of the API to the second. Filters such as `--from` accept it. */
export const toTheSecond = (timestamp: string | null): string | null =>
  timestamp === null ? null : `${timestamp.slice(0, 'yyyy-mm-ddThh:mm:ss'.length)}Z`;
