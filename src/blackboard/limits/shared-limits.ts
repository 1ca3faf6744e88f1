import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition } from '../../catalog/definitions.js';
import { breakerAgent, breakerName, type Rate, singletonAgent } from '../../catalog/limits.js';
import { Clock } from '../../common/clock.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { effectiveLimits } from '../matching/effective-limits.js';
import type { LimitKey } from '../matching/limit-keys.js';
import { hasOtherConfiguration } from '../processes/process-rows.js';
import { findOpenAmong, type OpenBreakerRow, shortenBreaker } from './breaker-rows.js';
import { burstLength } from './gcra.js';
import { type KeptPlace, KeptPlaces } from './kept-places.js';
import { keyText, parseKey, parseKeys } from './key-texts.js';
import { LimitHolders, type UsedLimits } from './limit-holders.js';
import {
  findRates,
  findTurns,
  isOfAnotherRate,
  type RateRow,
  type RunningRow,
  setRates,
  type StoredRateRow,
  stretchRates,
} from './limit-rows.js';
import { LimitUsage, type OpenBreaker } from './limit-usage.js';
import { Overtaken } from './overtaken.js';
import { isTurn, turnLock, turnOf } from './singleton-turns.js';
import { firstInTurns } from './turns-in-lines.js';

/** The name that a transaction locks while it starts executions of a limit, or changes the limit. */
export const limitLock = (limit: string): string => `limit ${limit}`;

/** The names that a transaction locks while it starts executions of this agent. */
export const limitLocksOf = ({ name, limits, breaker }: AgentDefinition): string[] =>
  [...limits.map((use) => use.name), ...(breaker ? [breakerName(name)] : [])].map(limitLock);

/** The clocks of processes differ a little. */
const TOLERANCE_MS = 60_000;

const NOTHING: UsedLimits = { counts: new Map(), runningCounts: new Map(), running: [] };

interface Shortened {
  breakers: OpenBreakerRow[];
  rates: RateRow[];
}

interface Read {
  usage: LimitUsage;
  /** Breakers and rates that the database says are shut for longer than they may be. */
  shortened: Shortened;
  /** Name of a limit whose file had another rate when it was used last → its rate. */
  ofOtherRates: ReadonlyMap<string, Rate>;
}

/** The limits of this process and what is used of them, in all processes. */
@Injectable()
export class SharedLimits {
  /** The names of the limits in which several agents take part. */
  readonly ofSeveralAgents: ReadonlySet<string>;

  constructor(
    private readonly catalog: Catalog,
    private readonly holders: LimitHolders,
    private readonly clock: Clock,
  ) {
    const uses = catalog.agents.flatMap(({ limits }) => [...new Set(limits.map(({ name }) => name))]);
    this.ofSeveralAgents = new Set(uses.filter((name, index) => uses.indexOf(name) < index));
  }

  get areNone(): boolean {
    const { limits, agents } = this.catalog;
    return limits.size === 0 && agents.every(({ singleton, breaker }) => singleton === null && breaker === null);
  }

  /**
   * Locks the limits of these keys until the transaction ends, and returns what is used of them. No other transaction
   * starts an execution with one of them, or gives one a turn, meanwhile. Its `now` is the time after the wait for the locks: with
   * an earlier one, an execution would seem to have started while the one ran that it waited for.
   */
  async hold(tx: Transaction, keys: readonly LimitKey[]): Promise<LimitUsage> {
    // Postgres gets both together and answers them in this order, so the queries see what was committed before the lock.
    const [, { usage, shortened, ofOtherRates }] = await Promise.all([
      tx.lock([...new Set(keys.map(lockOf))].sort()),
      this.read(tx.db, keys, () => this.clock.now()),
    ]);
    if (ofOtherRates.size > 0) {
      for (const [name, rate] of ofOtherRates) await stretchRates(tx, name, rate, usage.now);
      return this.hold(tx, keys);
    }
    for (const breaker of shortened.breakers) await shortenBreaker(tx.db, breaker);
    await setRates(tx.db, shortened.rates);
    return usage;
  }

  /**
   * Reads what is used of the limits of these keys. Without `hold` it may change at any time. `used`: what executions used
   * a while ago, so that it is not read again.
   */
  async usage(db: Reader, keys: readonly LimitKey[], now: number, used?: UsedLimits): Promise<LimitUsage> {
    return (await this.read(db, keys, () => now, used)).usage;
  }

  /** `time`: the time after the queries. */
  private async read(db: Reader, keys: readonly LimitKey[], time: () => number, known?: UsedLimits): Promise<Read> {
    const texts = textsOf(keys);
    const others = keys.filter(([name]) => breakerAgent(name) === null);
    const names = others.map(([name]) => name);
    const breakers = textsOf(keys.filter((key) => this.mayBeOpen(key)));
    const [limits, { used, open }, turns, rates] = await Promise.all([
      effectiveLimits(db, this.catalog, [...new Set(names)]),
      this.usedAndOpen(db, names, breakers, known),
      this.turns(db, keys),
      findRates(db, {}, textsOf(others)),
    ]);
    const now = time();
    const rateOf = ({ limit_key }: RateRow): Rate | null => limits.get(parseKey(limit_key)[0])?.rate ?? null;
    const shortened = {
      breakers: open.flatMap((breaker) => this.shorten(breaker, now) ?? []),
      rates: rates.flatMap((row) => shortenRate(row, rateOf(row), now) ?? []),
    };
    const toStretch = await this.ofOtherRates(db, rates, rateOf, now);
    const usage = new LimitUsage(
      limits,
      {
        all: new Map([
          ...texts.map((text) => [text, used.counts.get(text) ?? 0] as const),
          ...turns.map((turn) => [keyText(turn), 1] as const),
        ]),
        running: new Map(texts.map((text) => [text, used.runningCounts.get(text) ?? 0])),
      },
      new Map([...rates, ...shortened.rates].map(({ limit_key, used_until }) => [limit_key, used_until])),
      openBreakers([...open, ...shortened.breakers], used.running),
      new Set([
        ...shortened.breakers.map(({ breaker_key }) => breaker_key),
        ...[...shortened.rates, ...toStretch].map(({ limit_key }) => limit_key),
      ]),
      new KeptPlaces(rates.filter(isKept), now),
      new Overtaken(used.running),
      now,
    );
    return {
      usage,
      shortened,
      ofOtherRates: new Map(toStretch.map((row) => [parseKey(row.limit_key)[0], rateOf(row)!])),
    };
  }

  /**
   * Returns the rows that were used with another rate than the configuration has. While a process runs with the other one,
   * there are none: it would count with what this one stores.
   */
  private async ofOtherRates(
    db: Reader,
    rates: readonly RateRow[],
    rateOf: (row: RateRow) => Rate | null,
    now: number,
  ): Promise<RateRow[]> {
    const found = rates.filter((row) => {
      const rate = rateOf(row);
      return rate !== null && isOfAnotherRate(row, rate, now);
    });
    return found.length > 0 && (await hasOtherConfiguration(db, this.catalog.digest, now)) ? [] : found;
  }

  /** Returns the keys with the units that the executions cost that wait first for them. */
  async asOfFirst(db: Reader, keys: readonly LimitKey[]): Promise<LimitKey[]> {
    const counted = keys.filter(([name]) => this.catalog.limits.get(name)?.units != null);
    const units = new Map(
      [...(await firstInTurns(db, textsOf(counted)))].map(([text, { limit_keys }]) => {
        const own = parseKeys(limit_keys ?? '[]').find((key) => keyText(key) === text);
        return [text, own?.[2] ?? 1];
      }),
    );
    return keys.map(([name, value, one]) => [name, value, units.get(keyText([name, value, one])) ?? one]);
  }

  /**
   * Returns those of the keys for which executions may start now, as far as turns decide it. A process without the agent,
   * or without its rule, passes its turns on, too: workers may lack an external agent.
   */
  async passable(db: Reader, keys: readonly LimitKey[]): Promise<LimitKey[]> {
    const taken = new Set((await this.turns(db, keys)).map(keyText));
    return keys.filter((key) => !taken.has(keyText(key)));
  }

  /** Finds which of the breakers are not closed, and what is used, unless it is asked for closed breakers only. */
  private async usedAndOpen(
    db: Reader,
    names: readonly string[],
    breakers: readonly string[],
    known?: UsedLimits,
  ): Promise<{ used: UsedLimits; open: OpenBreakerRow[] }> {
    if (names.length === 0 && (await findOpenAmong(db, {}, breakers)).length === 0) return { used: NOTHING, open: [] };
    // In this order: if the attempt that decides ends in between, it still counts, or the breaker is seen as it is then.
    const [used, open] = await Promise.all([known ?? this.holders.usedOf(db, names), findOpenAmong(db, {}, breakers)]);
    return { used, open };
  }

  /** Returns those of the keys whose turn an execution has. */
  private async turns(db: Reader, keys: readonly LimitKey[]): Promise<LimitKey[]> {
    const found: LimitKey[] = [];
    for (const [name, some] of Map.groupBy(keys.filter(isTurn), ([limit]) => limit)) {
      const agent = singletonAgent(name)!;
      const rows = await findTurns(
        db,
        { agent },
        some.map(([, key]) => String(key)),
      );
      found.push(...rows.map(({ singleton_key }) => turnOf(agent, singleton_key)));
    }
    return found;
  }

  /**
   * False for the other limits, and if the agent no longer has the breaker: then it keeps nothing waiting. A process without
   * the agent does not know whether it has one, and goes by what the database says.
   */
  private mayBeOpen([name]: LimitKey): boolean {
    const agent = breakerAgent(name);
    return agent !== null && this.catalog.agent(agent)?.breaker !== null;
  }

  /**
   * Returns the breaker with the latest end that it can have, if its own is much later: the clock was set back since it
   * opened, or the configuration has another time now. Null if it is as it should be.
   */
  private shorten(row: OpenBreakerRow, now: number): OpenBreakerRow | null {
    const rule = this.catalog.agent(breakerAgent(parseKey(row.breaker_key)[0])!)?.breaker;
    if (!rule || row.open_until <= now + rule.openMs + TOLERANCE_MS) return null;
    return { ...row, open_until: now + rule.openMs };
  }
}

/**
 * Returns the rate with the latest time that it can be used until, if its own is much later, because the clock was set back.
 * Null if it is as it should be. While a new configuration is rolled out, another process may have used it with a longer
 * burst.
 */
function shortenRate(row: RateRow, rate: Rate | null, now: number): RateRow | null {
  if (!rate || row.burst_ms === null) return null;
  const latest = now + Math.max(burstLength(rate), row.burst_ms);
  return row.used_until <= latest + TOLERANCE_MS ? null : { ...row, used_until: latest };
}

const isKept = (row: StoredRateRow): row is StoredRateRow & KeptPlace => row.kept_for !== null;

const textsOf = (keys: readonly LimitKey[]): string[] => [...new Set(keys.map(keyText))];

/** Counts the attempts of each breaker since its time. One whose answer comes later has not ended either. */
function openBreakers(open: readonly OpenBreakerRow[], running: readonly RunningRow[]): Map<string, OpenBreaker> {
  const breakers = new Map(open.map(({ breaker_key, open_until }) => [breaker_key, { until: open_until, started: 0 }]));
  if (breakers.size === 0) return breakers;
  for (const { attempt_started_at: startedAt, limit_keys } of running)
    for (const key of parseKeys(limit_keys)) {
      const breaker = breakers.get(keyText(key));
      if (breaker && startedAt !== null && startedAt >= breaker.until) breaker.started += 1;
    }
  return breakers;
}

const lockOf = (key: LimitKey): string =>
  isTurn(key) ? turnLock(singletonAgent(key[0])!, String(key[1])) : limitLock(key[0]);
