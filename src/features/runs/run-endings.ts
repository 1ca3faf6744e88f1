import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Selectable } from 'kysely';

import { HAS_RUN } from '../../blackboard/correlations/correlation-rows.js';
import { CorrelationSettled } from '../../blackboard/correlations/correlation-settled.js';
import type { RunsTable, UsageSums } from '../../database/schema.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { RunEvents } from './run-events.js';
import { RunsRepository } from './runs.repository.js';

/** `used` is the model usage of the run's correlation. */
export type RunHook = (
  tx: Transaction,
  run: Selectable<RunsTable>,
  now: number,
  used: Selectable<UsageSums>,
) => Promise<void>;

/**
 * Ends a run in the transaction that settles its correlation, and runs the hooks of other features. The status of a run
 * follows its own rule, which differs from that of the correlation (docs/api.md).
 */
@Injectable()
export class RunEndings implements OnModuleInit {
  private readonly hooks: RunHook[] = [];

  constructor(
    private readonly runs: RunsRepository,
    private readonly settled: CorrelationSettled,
    private readonly events: RunEvents,
  ) {}

  /** Adds a hook. Features call it when they start, before any transaction. */
  add(hook: RunHook): void {
    this.hooks.push(hook);
  }

  onModuleInit(): void {
    this.settled.add(async (tx, correlation, now, reason) => {
      if (correlation.has_run !== HAS_RUN.run) return;
      const failure = correlation.error_count > 0 ? await this.runs.firstFailure(tx, correlation.id) : undefined;
      const status = correlation.state === 'cancelled' ? 'cancelled' : failure ? 'failed' : 'completed';
      const failed =
        status === 'failed' && failure
          ? `${failure.agent} failed: ${failure.error_message ?? 'it gave no reason'}`
          : null;
      const error = status === 'cancelled' ? reason : failed;
      const run = await this.runs.end(tx, { id: correlation.id, status, error, endedAt: now });
      if (!run) return;
      // A terminal status never changes, so the correlation must take no further artifacts.
      correlation.closed = 1;
      this.events.changed(tx, run);
      for (const hook of this.hooks) await hook(tx, run, now, correlation);
    });
  }
}
