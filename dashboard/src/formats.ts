const LOCALE = 'en-GB';

/** Makes a formatter when it is first used, because the first one of a page takes as long as a view's first rows. */
function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

const compact = lazily(() => new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 }));
const list = lazily(() => new Intl.ListFormat(LOCALE));

/** 1,234,567; without Intl, since every view has numbers. */
export function numberText(value: number): string {
  const [whole, fraction] = String(Math.round(value * 1_000) / 1_000).split('.') as [string, string?];
  const grouped = whole.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** 1.2M, for narrow places; show `numberText` on hover. */
export const compactNumberText = (value: number): string => compact().format(value);

/** Prices have no currency. Digits after the fourth are rounding errors of sums. */
export const costText = (cost: number): string => String(Number(cost.toPrecision(4)));

/** 4.2 %, of a share from 0 to 1. */
export const shareText = (share: number): string => `${(share * 100).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

/** "1 artifact", "2 artifacts" */
export const countText = (count: number, one: string, many = `${one}s`): string =>
  `${numberText(count)} ${count === 1 ? one : many}`;

/** "a", "a and b", "a, b and c" */
export const listText = (words: readonly string[]): string => list().format(words);

/** 512 B, 240 kB, 1.5 MB */
export function bytesText(bytes: number): string {
  const [unit, size] = BYTE_UNITS.find((entry) => bytes >= entry[1]) ?? (['B', 1] as const);
  return `${numberText(Number((bytes / size).toPrecision(3)))} ${unit}`;
}

const BYTE_UNITS = [
  ['GB', 1e9],
  ['MB', 1e6],
  ['kB', 1e3],
] as const;

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

const twoDigits = (value: number): string => String(value).padStart(2, '0');

/** The local time: 21:37:01 of today, 22 Nov, 21:37:01 of this year, or 22 Nov 2025, 21:37. Without Intl, since every view has times. */
export function timeText(time: Date, now = new Date()): string {
  const minute = `${twoDigits(time.getHours())}:${twoDigits(time.getMinutes())}`;
  const second = `${minute}:${twoDigits(time.getSeconds())}`;
  if (time.toDateString() === now.toDateString()) return second;
  const day = `${time.getDate()} ${MONTHS[time.getMonth()]}`;
  return time.getFullYear() === now.getFullYear() ? `${day}, ${second}` : `${day} ${time.getFullYear()}, ${minute}`;
}

/** 2026-11-23 09:00:00.123 UTC */
export const utcText = (time: Date): string => time.toISOString().replace('T', ' ').replace('Z', ' UTC');

const UNITS: [name: string, ms: number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1_000],
];

/** 340 ms, 1.2 s, 2 min 5 s, 3 h 4 min, 2 d 3 h */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1).replace(/\.0$/, '')} s`;
  // Rounded first, so that 59,999 ms are not "60 s".
  const whole = Math.round(ms / 1_000) * 1_000;
  const index = UNITS.findIndex(([, size]) => whole >= size);
  const [name, size] = UNITS[index]!;
  const count = Math.floor(whole / size);
  const [smaller, smallerSize] = UNITS[index + 1] ?? [];
  const rest = smallerSize === undefined ? 0 : Math.floor((whole % size) / smallerSize);
  return rest === 0 ? `${count} ${name}` : `${count} ${name} ${rest} ${smaller}`;
}

/** "just now", "12 s ago", "in 3 min". Of two units, the larger one is enough. */
export function relativeText(time: Date, now: number): string {
  const ms = now - time.getTime();
  if (Math.abs(ms) < 1_000) return 'just now';
  const [, large] = /^(\S+ \S+)/.exec(durationText(Math.floor(Math.abs(ms) / 1_000) * 1_000))!;
  return ms > 0 ? `${large} ago` : `in ${large}`;
}

/** The beginning and the end of an id, which differ most between ids. */
export const shortId = (id: string): string => (id.length <= 16 ? id : `${id.slice(0, 4)}…${id.slice(-8)}`);

/** Characters that change the order in which the text after them is shown. */
const BIDIRECTIONAL_CONTROLS = /[\u202a-\u202e\u2066-\u2069]/g;

/** A text in which such characters are escaped as in JSON, so that it reads as it is. */
export const unreversedText = (text: string): string =>
  text.replace(BIDIRECTIONAL_CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16)}`);

/** A value as JSON. */
export const jsonText = (value: unknown, indent?: number): string =>
  unreversedText(JSON.stringify(value, undefined, indent) ?? '');
