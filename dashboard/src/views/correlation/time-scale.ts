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

const TICKS = 5;

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
  return { place, breaks, ticks: ticksOf(pieces, total, begin) };
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

/** Ticks at equal distances, except within shortened idle times. */
function ticksOf(pieces: readonly Piece[], total: number, begin: number): Mark[] {
  return Array.from({ length: TICKS }, (_, index) => index / TICKS).flatMap((at) => {
    let before = 0;
    for (const { from, to, width, isIdle } of pieces) {
      const end = before + width / total;
      if (at <= end && width > 0) {
        if (isIdle) return [];
        const time = from + ((at - before) / (end - before)) * (to - from);
        return [{ at, text: at === 0 ? '0' : `+${durationText(time - begin)}` }];
      }
      before = end;
    }
    return [];
  });
}
