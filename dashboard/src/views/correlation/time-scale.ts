import { durationText } from '../../formats';

export interface Span {
  from: number;
  to: number;
}

/** A place on the scale, from 0 to 1, with its text. */
export interface Mark {
  at: number;
  text: string;
}

export interface TimeScale {
  /** Returns the place of a time in ms, from 0 to 1. */
  place: (time: number) => number;
  /** Times since the beginning. */
  ticks: Mark[];
  /** Idle times that are drawn shorter than they were. */
  breaks: Mark[];
}

interface Piece extends Span {
  width: number;
  isIdle: boolean;
}

/** Idle times above this share of the busy time are shortened, to the second share. */
const LONG_IDLE = 0.4;
const IDLE_WIDTH = 0.06;
const SHORTEST_IDLE_MS = 1_000;

/** About as many ticks are drawn. */
const TICKS = 5;
/** A tick after this place has no room for its text. */
const LAST_TICK = 0.9;
const [SECOND_MS, MINUTE_MS, HOUR_MS, DAY_MS] = [1_000, 60_000, 3_600_000, 86_400_000];
const ROUND_STEPS_MS = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((seconds) => seconds * SECOND_MS),
  ...[1, 2, 5, 10, 15, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 2, 3, 6, 12].map((hours) => hours * HOUR_MS),
];

/** Maps times to places so that long times in which nothing happened take little space. */
export function timeScale(spans: readonly Span[]): TimeScale {
  const busy = merged(spans);
  const busyMs = Math.max(
    1,
    busy.reduce((sum, { from, to }) => sum + to - from, 0),
  );
  const pieces = piecesOf(busy, busyMs);
  const total = Math.max(
    1,
    pieces.reduce((sum, { width }) => sum + width, 0),
  );
  const begin = pieces[0]?.from ?? 0;
  const place = (time: number): number => {
    let before = 0;
    for (const { from, to, width } of pieces) {
      if (time <= to) return (before + width * share(time, from, to)) / total;
      before += width;
    }
    return 1;
  };
  const breaks = pieces
    .filter(({ isIdle }) => isIdle)
    .map(({ from, to }) => ({ at: place((from + to) / 2), text: `${durationText(to - from)} idle` }));
  return { place, breaks, ticks: ticksOf(pieces, total, begin, place) };
}

function merged(spans: readonly Span[]): Span[] {
  const found: Span[] = [];
  for (const { from, to } of [...spans].sort((one, other) => one.from - other.from)) {
    const last = found.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else found.push({ from, to: Math.max(from, to) });
  }
  return found;
}

function piecesOf(busy: readonly Span[], busyMs: number): Piece[] {
  return busy.flatMap(({ from, to }, index) => {
    const piece: Piece = { from, to, width: to - from, isIdle: false };
    const before = busy[index - 1];
    if (before === undefined) return [piece];
    const idleMs = from - before.to;
    const isIdle = idleMs > Math.max(SHORTEST_IDLE_MS, busyMs * LONG_IDLE);
    return [{ from: before.to, to: from, width: isIdle ? busyMs * IDLE_WIDTH : idleMs, isIdle }, piece];
  });
}

const share = (time: number, from: number, to: number): number =>
  to === from ? 0 : Math.min(1, Math.max(0, (time - from) / (to - from)));

/** Ticks at round times since `begin`, except within shortened idle times. */
function ticksOf(pieces: readonly Piece[], total: number, begin: number, place: (time: number) => number): Mark[] {
  const step = roundStep(total / TICKS);
  const ticks: Mark[] = [];
  for (const { from, to, isIdle } of pieces) {
    if (isIdle) continue;
    for (let ms = Math.ceil((from - begin) / step) * step; ms <= to - begin; ms += step) {
      const at = place(begin + ms);
      if (at - (ticks.at(-1)?.at ?? -1) >= 1 / (2 * TICKS) && at < LAST_TICK)
        ticks.push({ at, text: ms === 0 ? '0' : `+${durationText(ms)}` });
    }
  }
  return ticks;
}

/** The smallest round duration that is not shorter than `ms`. */
function roundStep(ms: number): number {
  const step = ROUND_STEPS_MS.find((one) => one >= ms);
  return step ?? Math.ceil(ms / DAY_MS) * DAY_MS;
}
