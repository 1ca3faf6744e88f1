import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/unit-of-work.js';
import type { TrackedCorrelation } from './tracked-correlation.js';

/**
 * What follows the end of a generation, in the transaction that ends it. `correlation` has its final state; setting `closed`
 * keeps it from being opened again. `reason`: why it was cancelled, where nobody asked for it.
 */
export type SettlementHook = (tx: Transaction, correlation: TrackedCorrelation, now: number, reason: string | null) => Promise<void>;

/** Where features say what must be written together with the end of a correlation, so that the core knows no feature. */
@Injectable()
export class CorrelationSettled {
  private readonly hooks: SettlementHook[] = [];

  /** For a feature's start, before any transaction. */
  add(hook: SettlementHook): void {
    this.hooks.push(hook);
  }

  async run(tx: Transaction, correlation: TrackedCorrelation, now: number, reason: string | null): Promise<void> {
    for (const hook of this.hooks) await hook(tx, correlation, now, reason);
  }
}
