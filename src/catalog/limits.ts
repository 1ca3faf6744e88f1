import { DURATION_PATTERN, durationText, LONGEST_MS, parseDuration } from '../common/units.js';
import type { AgentOptions, LimitOptions, Remaining } from './agent-options.js';

/** A limit that agents share. At least one of `concurrency` and `rate` is set. */
export interface Limit {
  name: string;
  /** Executions that may run at the same time for each key, over all processes. */
  concurrency: number | null;
  rate: Rate | null;
  /** CEL over the inputs of an execution: the cost of one attempt in units of the rate. Null: 1. */
  units: string | null;
  /** Whether an execution that has started counts for `concurrency` until it ends, also while it waits. */
  hold: boolean;
}

/** For each key, `count` units in `perMs` milliseconds, evenly spread; `burst` of them may start together. */
export interface Rate {
  count: number;
  perMs: number;
  burst: number;
}

/** A limit in which an agent takes part. */
export interface LimitUse {
  name: string;
  /** CEL over the inputs of an execution. Executions with equal keys share the limit. Null: all executions share it. */
  key: string | null;
}

export const MOST_CONCURRENCY = 100_000;
export const MOST_BURST = 1_000_000_000;

const UNIT_MS: Record<string, number> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

export const RATE_PATTERN = `^[1-9]\\d{0,8}/(s|m|h|d|${DURATION_PATTERN.slice(1, -1)})$`;

export const RATE_RULE =
  'must be a rate such as 60/m or 5/10s: a whole number from 1 to 999,999,999, a slash, and s, m, h, d or a duration';

/** Says what is wrong with a rate. Null if it is valid. */
export function findRateProblem(rate: unknown): string | null {
  if (typeof rate !== 'string' || !new RegExp(RATE_PATTERN).test(rate)) return RATE_RULE;
  return parseRate(rate) === null ? 'must be over a time from 1ms to 3650d' : null;
}

/** Reads a rate such as `60/m`, `5/10s` or `5/1m30s`. Null if `text` is not one. */
export function parseRate(text: string): Pick<Rate, 'count' | 'perMs'> | null {
  if (!new RegExp(RATE_PATTERN).test(text)) return null;
  const [count, per] = text.split('/') as [string, string];
  const perMs = UNIT_MS[per] ?? parseDuration(per) ?? 0;
  return perMs > 0 && perMs <= LONGEST_MS ? { count: Number(count), perMs } : null;
}

/** The rate in the form of the configuration: `60/m`. */
export function rateText({ count, perMs }: Pick<Rate, 'count' | 'perMs'>): string {
  const named = Object.keys(UNIT_MS).find((unit) => UNIT_MS[unit] === perMs);
  return `${count}/${named ?? durationText(perMs)}`;
}

export function defineLimit(name: string, { concurrency, rate, burst, units, hold }: Remaining<LimitOptions>): Limit {
  const parsed = rate === undefined ? null : parseRate(rate);
  return {
    name,
    concurrency: concurrency ?? null,
    rate: parsed && { ...parsed, burst: burst ?? (units === undefined ? 1 : parsed.count) },
    units: units ?? null,
    hold: hold ?? false,
  };
}

/** The end of the name of a limit that is a pattern. */
export const ANY = '*';

/**
 * Returns the limit of the file that a name in an agent means: the one with this name, else the longest pattern that
 * matches it. Undefined if there is none.
 */
export function limitFor(name: string, known: Iterable<string>): string | undefined {
  const names = [...known];
  if (names.includes(name)) return name;
  const matching = names.filter((one) => one.endsWith(ANY) && name.startsWith(one.slice(0, -ANY.length)));
  return matching.sort((one, other) => other.length - one.length)[0];
}

/** `keys`: the keys of the limits themselves, which a use may replace. */
export const defineLimitUses = (
  uses: Remaining<AgentOptions>['limits'],
  keys: ReadonlyMap<string, string | null>,
): LimitUse[] =>
  (uses ?? []).flatMap((use) => {
    const { name: given, key } = typeof use === 'string' ? { name: use, key: undefined } : (use ?? {});
    const name = given === undefined ? undefined : limitFor(given, keys.keys());
    return name === undefined ? [] : { name, key: key ?? keys.get(name) ?? null };
  });

/** Begins the names of turns. The name of a limit has no space at its ends. */
const SINGLETON = ' singleton of ';

/** The name of the turns of an agent with `singleton`, for which executions wait as for a limit. */
export const singletonName = (agent: string): string => SINGLETON + agent;

/** The agent of a name of turns. Null if it is another name. */
export const singletonAgent = (name: string): string | null =>
  name.startsWith(SINGLETON) ? name.slice(SINGLETON.length) : null;

/** Begins the names of breakers. */
const BREAKER = ' breaker of ';

/** The name of the breakers of an agent, for which executions wait as for a limit. */
export const breakerName = (agent: string): string => BREAKER + agent;

/** The agent of a name of breakers. Null if it is another name. */
export const breakerAgent = (name: string): string | null =>
  name.startsWith(BREAKER) ? name.slice(BREAKER.length) : null;

/** The name for people. */
export const shownLimit = (name: string): string =>
  singletonAgent(name) === null && breakerAgent(name) === null ? `limit ${name}` : name.trim();

/** The values of a limit that can change while it is used. */
export type LimitValues = Pick<LimitOptions, 'concurrency' | 'rate' | 'burst'>;

/** Replaces the values of the limit. Its key, its units and `hold` stay. */
export const withValues = (limit: Limit, values: LimitValues): Limit =>
  defineLimit(limit.name, { ...values, hold: limit.hold, ...(limit.units !== null && { units: limit.units }) });

/** The values of a limit, in the form of the configuration. */
export const valuesOf = ({ concurrency, rate }: Limit): LimitValues => ({
  ...(concurrency !== null && { concurrency }),
  ...(rate && { rate: rateText(rate), burst: rate.burst }),
});
