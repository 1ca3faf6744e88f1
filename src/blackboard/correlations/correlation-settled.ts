import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import type { TrackedCorrelation } from './tracked-correlation.js';

/**
 * Runs in the transaction that ends a generation. `correlation` has its final state; a hook that sets `closed` prevents
 * another generation. `reason` says why the service cancelled it; null in every other case.
 */
export type SettlementHook = (
  tx: Transaction,
  correlation: TrackedCorrelation,
  now: number,
  reason: string | null,
) => Promise<void>;

/** Features register here what to write when a correlation settles, so that the core does not depend on them. */
@Injectable()
export class CorrelationSettled {
  private readonly hooks: SettlementHook[] = [];

  /** Call this when the feature starts, before the first transaction. */
  add(hook: SettlementHook): void {
    this.hooks.push(hook);
  }

  async run(tx: Transaction, correlation: TrackedCorrelation, now: number, reason: string | null): Promise<void> {
    for (const hook of this.hooks) await hook(tx, correlation, now, reason);
  }
}
