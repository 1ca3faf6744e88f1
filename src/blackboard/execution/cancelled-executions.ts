import { Injectable } from '@nestjs/common';

import type { Transaction } from '../../database/unit-of-work.js';
import { Usages } from '../budgets/usages.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { CancelEffects } from './cancel-effects.js';
import { endAmong, holdOpenAmong, type WhyCancelled } from './execution-rows.js';

/**
 * Cancels executions one by one. The other work of their correlations continues. As when a correlation is cancelled,
 * running engines are aborted after the commit, and their results are discarded.
 */
@Injectable()
export class CancelledExecutions {
  constructor(
    private readonly usages: Usages,
    private readonly effects: CancelEffects,
  ) {}

  /** Cancels those that have not ended. The caller saves the changes. */
  async cancel(
    tx: Transaction,
    changes: CorrelationChanges,
    executions: readonly { id: string; correlation_id: string }[],
    why: Partial<WhyCancelled>,
  ): Promise<void> {
    if (executions.length === 0) return;
    // Correlations are locked before executions, as everywhere.
    await changes.getAll([...new Set(executions.map(({ correlation_id }) => correlation_id))]);
    const held = await holdOpenAmong(
      tx,
      executions.map(({ id }) => id),
    );
    if (held.length === 0) return;
    const ids = held.map(({ id }) => id);
    await endAmong(tx.db, { now: changes.now, cancelled_by: null, skipped_for: null, ...why }, ids);
    for (const [correlationId, own] of Map.groupBy(held, ({ correlation_id }) => correlation_id)) {
      await this.usages.abandon(tx, changes, correlationId, own);
      (await changes.get(correlationId)).pending -= own.length;
    }
    await this.effects.follow(tx, held);
  }
}
