import { Injectable } from '@nestjs/common';
import type { Transaction } from '../../database/unit-of-work.js';
import type { TrackedCorrelation } from './tracked-correlation.js';

/**
 * What follows the end of an opening, in the transaction that ends it. `correlation` has its final state; setting `closed`
 * keeps it from being opened again. `reason`: why it was cancelled, where nobody asked for it.
 */
export type SettlementFollower = (tx: Transaction, correlation: TrackedCorrelation, now: number, reason: string | null) => Promise<void>;

/** Where features say what must be written together with the end of a correlation, so that the core knows no feature. */
@Injectable()
export class CorrelationSettled {
  private readonly followers: SettlementFollower[] = [];

  /** For a feature's start, before any transaction. */
  add(follower: SettlementFollower): void {
    this.followers.push(follower);
  }

  async tell(tx: Transaction, correlation: TrackedCorrelation, now: number, reason: string | null): Promise<void> {
    for (const follow of this.followers) await follow(tx, correlation, now, reason);
  }
}
