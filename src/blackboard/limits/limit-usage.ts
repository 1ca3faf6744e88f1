import type { Limit, Rate } from '../../catalog/limits.js';
import type { LimitKey } from '../matching/limit-keys.js';
import { afterStart, burstLength, earliestStart, unitLength, unitsLeft } from './gcra.js';
import type { KeptPlaces } from './kept-places.js';
import { keyText } from './key-texts.js';
import type { RateRow } from './limit-rows.js';
import type { Overtaken } from './overtaken.js';

/** A client may have set a smaller burst than an execution costs that waits already. It then takes the whole burst. */
const costOf = ([, , units]: LimitKey, { burst }: Rate): number => Math.min(units, burst);

const NONE: ReadonlySet<string> = new Set();

/** Why an execution cannot start: the limit, and when its rate will have room (epoch ms); null if that is not known. */
export interface NoRoom {
  blockedOn: string;
  at: number | null;
}

/** A breaker that is not closed. */
export interface OpenBreaker {
  /** Nothing starts before this time (epoch ms). Then one attempt at a time does. */
  until: number;
  /** Attempts that have started since and have not ended. */
  started: number;
}

/** How many executions use each key (`keyText`). `take` counts in them. */
export interface UsedCounts {
  /** They run, or hold the key while they wait. */
  all: Map<string, number>;
  running: Map<string, number>;
}

/** Counts what is used of limits. The counts stay true only while the caller holds the locks of the limits. */
export class LimitUsage {
  /** The rates that `take` has changed, by their keys. */
  readonly changed = new Map<string, RateRow>();

  constructor(
    private readonly limits: ReadonlyMap<string, Limit>,
    private readonly used: UsedCounts,
    private readonly rates: ReadonlyMap<string, number>,
    /** Key → its breaker. `take` counts in them. */
    private readonly breakers: ReadonlyMap<string, OpenBreaker>,
    /** Breakers and rates that the database may say are shut for longer than they may be. */
    private readonly shutTooLong: ReadonlySet<string>,
    readonly places: KeptPlaces,
    readonly overtaken: Overtaken,
    readonly now: number,
  ) {}

  /**
   * Starts an execution with these keys, or returns the first limit that has no room. `held`: what it holds already. `id`: the
   * execution.
   */
  take(keys: readonly LimitKey[], held: ReadonlySet<string>, id: string): NoRoom | null {
    for (const key of keys) {
      const full = this.obstacle(key, held, id);
      if (full) return full;
    }
    for (const key of keys) this.start(key, held);
    return null;
  }

  /**
   * How many of the executions that wait for the key to read: as many as could start now, if each costs one unit. With a
   * rate, also the next one, which may cost less, and says when the rate has room for it.
   */
  readable(key: LimitKey): number {
    const limit = this.limits.get(key[0]);
    const text = keyText(key);
    if (this.breakers.has(text)) return this.obstacle(key) === null ? 1 : 0;
    const ofConcurrency = (limit?.concurrency ?? Infinity) - this.inUse(text);
    const ofRate = limit?.rate ? unitsLeft(limit.rate, this.usedUntil(text), this.now) + 1 : Infinity;
    return Math.max(0, Math.min(ofConcurrency, ofRate));
  }

  /** Whether the database may say so. A transaction that holds the limit stores how long it may be shut. */
  isShutTooLong(key: LimitKey): boolean {
    return this.shutTooLong.has(keyText(key));
  }

  /** Undefined if the configuration no longer has it. */
  limit(name: string): Limit | undefined {
    return this.limits.get(name);
  }

  /** How many executions use the key: they run, or hold it while they wait. */
  inUse(text: string): number {
    return this.used.all.get(text) ?? 0;
  }

  /** Used units of the burst. Null for a limit without a rate. */
  unitsUsed(key: LimitKey): number | null {
    const rate = this.limits.get(key[0])?.rate;
    return rate ? rate.burst - unitsLeft(rate, this.usedUntil(keyText(key)), this.now) : null;
  }

  /** Undefined if the key has no breaker, or if it is closed. */
  breaker(text: string): 'open' | 'half-open' | undefined {
    const breaker = this.breakers.get(text);
    return breaker && (breaker.until > this.now ? 'open' : 'half-open');
  }

  /** Without `id`: for an execution for which no place is kept. */
  obstacle(key: LimitKey, held: ReadonlySet<string> = NONE, id: string | null = null): NoRoom | null {
    const limit = this.limits.get(key[0]);
    const text = keyText(key);
    const breaker = this.breakers.get(text);
    if (breaker && breaker.until > this.now) return { blockedOn: text, at: breaker.until };
    if (breaker && breaker.started > 0) return { blockedOn: text, at: null };
    if (limit?.concurrency != null && held.has(text)) {
      // It has its share. But a process whose configuration has no `hold` may have given the share to another one, and a
      // client may have set a lower value.
      if ((this.used.running.get(text) ?? 0) >= limit.concurrency) return { blockedOn: text, at: null };
    } else if (limit?.concurrency != null) {
      const left = limit.concurrency - this.inUse(text);
      if (left <= 0) return { blockedOn: text, at: null };
      const keptUntil = this.places.keptFrom(text, id);
      if (left === 1 && keptUntil !== null) return { blockedOn: text, at: keptUntil };
    }
    const at = this.roomAt(key, text);
    return at === null ? null : { blockedOn: text, at };
  }

  /** Keeps a place of the concurrency for the execution, if the limit has one. */
  keepPlace(key: LimitKey, id: string): void {
    if (this.limits.get(key[0])?.concurrency != null) this.places.keep(keyText(key), id);
  }

  /** When the rate has room for the units (epoch ms). Null if it has room now, or if there is none. */
  roomAt(key: LimitKey, text = keyText(key)): number | null {
    const rate = this.limits.get(key[0])?.rate;
    if (!rate) return null;
    const at = earliestStart(rate, this.usedUntil(text), costOf(key, rate));
    return at <= this.now ? null : at;
  }

  private start(key: LimitKey, held: ReadonlySet<string>): void {
    const limit = this.limits.get(key[0]);
    const text = keyText(key);
    if (!held.has(text)) countIn(this.used.all, text);
    countIn(this.used.running, text);
    const breaker = this.breakers.get(text);
    if (breaker) breaker.started += 1;
    if (limit?.rate)
      this.changed.set(text, {
        limit_key: text,
        used_until: afterStart(limit.rate, this.usedUntil(text), costOf(key, limit.rate), this.now),
        burst_ms: burstLength(limit.rate),
        unit_ms: unitLength(limit.rate),
      });
  }

  private usedUntil(text: string): number {
    return this.changed.get(text)?.used_until ?? this.rates.get(text) ?? -Infinity;
  }
}

function countIn(counts: Map<string, number>, text: string): void {
  counts.set(text, (counts.get(text) ?? 0) + 1);
}
