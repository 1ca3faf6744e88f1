import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { Limit } from '../../catalog/limits.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { isExternal } from '../../engines/external/external-work.js';
import type { LimitKey } from '../matching/limit-keys.js';
import { findRates, findRunning, type RunningRow } from './limit-rows.js';
import { keyText, LimitUsage, parseKeys } from './limit-usage.js';

/** The limits of this process and what is used of them, in all processes. */
@Injectable()
export class SharedLimits {
  constructor(private readonly catalog: Catalog) {}

  get areNone(): boolean {
    return this.catalog.limits.size === 0;
  }

  /** Undefined if the configuration no longer has it. It then limits nothing. */
  get(name: string): Limit | undefined {
    return this.catalog.limits.get(name);
  }

  /**
   * Locks the limits of these keys until the transaction ends, and returns what is used of them. No other transaction
   * starts an execution with one of them meanwhile.
   */
  async hold(tx: Transaction, keys: readonly LimitKey[], now: number): Promise<LimitUsage> {
    await tx.lock([...new Set(keys.map(([limit]) => `limit ${limit}`))].sort());
    return this.usage(tx.db, keys, now);
  }

  /** Reads what is used of the limits of these keys. Without `hold` it may change at any time. */
  async usage(db: Reader, keys: readonly LimitKey[], now: number): Promise<LimitUsage> {
    const rated = keys.filter(([name]) => this.get(name)?.rate);
    const [running, rates] = await Promise.all([
      findRunning(db, {}),
      findRates(db, {}, [...new Set(rated.map(keyText))]),
    ]);
    return new LimitUsage(
      this,
      running.filter((row) => this.holds(row)).map((row) => parseKeys(row.limit_keys)),
      new Map(rates.map(({ limit_key, used_until }) => [limit_key, used_until])),
      now,
    );
  }

  // A lease without an owner belongs to a client that has claimed the execution, or to a remote agent that will answer
  // later. Waiting for that answer uses nothing.
  private holds({ agent, lease_owner }: RunningRow): boolean {
    return lease_owner !== null || isExternal(this.catalog.agent(agent));
  }
}
