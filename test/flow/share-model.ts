import type { Keyed } from './cancel-model.js';
import type { Logged } from './execution-log.js';

/** A process counts the executions of a key again after a second. The rest is for the requests between. */
const LONGEST_COUNT_MS = 2_000;

/**
 * Returns a line for each request that `max_share` refused although fewer than `most` executions of its key were waiting
 * when a process may have counted them, including those that were queued since. `accepted` and `refused`: by the correlations.
 * `between`: how much of the time between two times counts.
 */
export function wronglyRefused(
  log: readonly Logged[],
  accepted: ReadonlyMap<string, Keyed>,
  refused: ReadonlyMap<string, Keyed>,
  { most, between }: { most: number; between: (from: number, to: number) => number },
): string[] {
  return [...refused].flatMap(([correlation, { key, sent }]) => {
    const own = new Map([...accepted].filter(([, other]) => other.key === key && other.sent.from <= sent.until));
    const counted = waitingOf(log, own)
      .filter(({ from, until }) => from <= sent.until && between(until, sent.from) <= LONGEST_COUNT_MS)
      .map(({ count, later }) => count + later);
    const largest = Math.max(...counted);
    return largest >= most
      ? []
      : [`${correlation} was refused, and only ${largest} of ${key} were waiting, not ${most}`];
  });
}

/** The executions that waited from one change to the next one. */
interface Waiting {
  /** Epoch ms. */
  from: number;
  until: number;
  /** How many executions waited. */
  count: number;
  /** How many were queued later, or never. */
  later: number;
}

function waitingOf(log: readonly Logged[], works: ReadonlyMap<string, unknown>): Waiting[] {
  const waiting = new Set<string>();
  const later = new Set(works.keys());
  const all = [{ from: -Infinity, until: Infinity, count: 0, later: later.size }];
  for (const { at, correlation_id: correlation, state } of log) {
    if (correlation === null || !works.has(correlation)) continue;
    later.delete(correlation);
    if (state === 'pending') waiting.add(correlation);
    else waiting.delete(correlation);
    all.at(-1)!.until = at;
    all.push({ from: at, until: Infinity, count: waiting.size, later: later.size });
  }
  return all;
}
