import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { breakerAgent } from '../../catalog/limits.js';
import type { Reader } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import type { LimitKey } from '../matching/limit-keys.js';
import { keyText, parseKeys } from './key-texts.js';
import { findHolding, findRunning, type HoldingRow, type RunningRow } from './limit-rows.js';

/** The use of limits by executions. */
export interface UsedLimits {
  /** Key (`keyText`) → how many executions use it. */
  counts: ReadonlyMap<string, number>;
  /** Key → how many of these run. The others hold it while they wait. */
  runningCounts: ReadonlyMap<string, number>;
  running: readonly RunningRow[];
}

/** An execution and what it held when it started last. */
interface HeldRow {
  held_keys: string | null;
  limit_keys: string | null;
}

interface Read {
  running: readonly RunningRow[];
  holding: readonly HoldingRow[];
  /** The execution → its keys, of those that use limits because they run. */
  keysOfRunning: ReadonlyMap<string, LimitKey[]>;
}

/** The executions that use the concurrency of limits: they run, or they hold a limit until they end. */
@Injectable()
export class LimitHolders {
  constructor(private readonly catalog: Catalog) {}

  /** Reads what executions use of all limits. */
  used(db: Reader): Promise<UsedLimits> {
    return this.usedOf(db, this.catalog.limits.keys());
  }

  /** Reads what executions use. It leaves out what they hold of other limits than these while they wait. */
  async usedOf(db: Reader, names: Iterable<string>): Promise<UsedLimits> {
    const { running, holding, keysOfRunning } = await this.read(db, names);
    const runningCounts = countsOf(keysOfRunning.values());
    const counts = holding.length === 0 ? runningCounts : countsOf(this.keysUsed(keysOfRunning, holding));
    return { counts, runningCounts, running };
  }

  /** Reads the keys of each execution that uses limits. */
  async keys(db: Reader): Promise<LimitKey[][]> {
    const { keysOfRunning, holding } = await this.read(db, this.catalog.limits.keys());
    return this.keysUsed(keysOfRunning, holding);
  }

  /** Returns what an execution holds already, as `heldBy` says. */
  heldTexts(row: HeldRow): ReadonlySet<string> {
    return new Set(this.heldBy(row).map(keyText));
  }

  /** Returns those of the keys (`executions.held_keys`) of which the limit has `hold`. */
  heldKeys(heldKeys: string | null): LimitKey[] {
    return heldKeys === null ? [] : this.held(parseKeys(heldKeys));
  }

  /** Returns those of the keys that an execution holds until it ends once it has started. */
  held(keys: readonly LimitKey[]): LimitKey[] {
    return keys.filter(([name]) => this.hasHold(name));
  }

  /** Whether the limit may have `hold`, as far as this process knows. A breaker has none. */
  mayHold([name]: LimitKey): boolean {
    return this.catalog.limits.has(name) ? this.hasHold(name) : breakerAgent(name) === null;
  }

  private async read(db: Reader, names: Iterable<string>): Promise<Read> {
    const [running, holding] = await Promise.all([findRunning(db, {}), this.findHolding(db, names)]);
    const keysOfRunning = new Map<string, LimitKey[]>();
    for (const row of running) if (!this.isDeferred(row)) keysOfRunning.set(row.id, parseKeys(row.limit_keys));
    return { running, holding, keysOfRunning };
  }

  /** Without a limit with `hold`, it asks the database nothing. */
  private findHolding(db: Reader, names: Iterable<string>): Promise<HoldingRow[]> {
    return [...names].some((name) => this.hasHold(name)) ? findHolding(db, {}) : Promise.resolve([]);
  }

  private hasHold(name: string): boolean {
    return this.catalog.limits.get(name)?.hold ?? false;
  }

  /** The keys that each execution uses. One that runs may hold keys too, and counts once. */
  private keysUsed(keysOfRunning: ReadonlyMap<string, LimitKey[]>, holding: readonly HoldingRow[]): LimitKey[][] {
    const held = holding.map((row) => [row.id, this.heldBy(row)] as const);
    return [...new Map([...held, ...keysOfRunning]).values()];
  }

  /**
   * The keys that an execution holds, of limits that have `hold`: all of them, or none. With a part of them, because the
   * others got `hold` since it started, it could wait for an execution that holds the others and waits for this part.
   */
  private heldBy({ held_keys, limit_keys }: HeldRow): LimitKey[] {
    const held = this.heldKeys(held_keys);
    if (held.length === 0) return held;
    const texts = new Set(held.map(keyText));
    return this.held(parseKeys(limit_keys ?? '[]')).every((key) => texts.has(keyText(key))) ? held : [];
  }

  /**
   * Whether it waits for the answer of a remote agent, which uses nothing. An earlier version left only a lease without an
   * owner, as a client's claim does: the kind of the agent tells them apart.
   */
  private isDeferred({ agent: name, lease_owner, lease_token, deferred_lease }: RunningRow): boolean {
    const agent = this.catalog.agent(name);
    return deferred_lease === lease_token || (lease_owner === null && agent !== undefined && !isExternal(agent));
  }
}

function countsOf(keys: Iterable<LimitKey[]>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const text of [...keys].flat().map(keyText)) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}
