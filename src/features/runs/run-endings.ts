import { Injectable, type OnModuleInit } from '@nestjs/common';
import type { Selectable } from 'kysely';
import { CorrelationSettled } from '../../blackboard/correlations/correlation-settled.js';
import type { RunsTable, UsageSums } from '../../database/schema.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { RunNotices } from './run-notices.js';
import { RunsRepository } from './runs.repository.js';

/** `used`: of models, in the run's correlation. */
export type RunFollower = (tx: Transaction, run: Selectable<RunsTable>, now: number, used: Selectable<UsageSums>) => Promise<void>;

/** Ends a run in the transaction that settles its correlation, each by its own rule, and tells those that follow runs. */
@Injectable()
export class RunEndings implements OnModuleInit {
  private readonly followers: RunFollower[] = [];

  constructor(
    private readonly runs: RunsRepository,
    private readonly settled: CorrelationSettled,
    private readonly notices: RunNotices,
  ) {}

  /** For a feature's start, before any transaction. */
  add(follower: RunFollower): void {
    this.followers.push(follower);
  }

  onModuleInit(): void {
    this.settled.add(async (tx, correlation, now, reason) => {
      const failure = correlation.error_count > 0 ? await this.runs.firstFailure(tx, correlation.id) : undefined;
      const status = correlation.state === 'cancelled' ? 'cancelled' : failure ? 'failed' : 'completed';
      const failed = status === 'failed' && failure ? `${failure.agent} failed: ${failure.error_message ?? 'it gave no reason'}` : null;
      const error = status === 'cancelled' ? reason : failed;
      const run = await this.runs.end(tx, { id: correlation.id, status, error, endedAt: now });
      if (!run) return;
      // A terminal status never changes, so nothing may be published into it any more.
      correlation.closed = 1;
      this.notices.changed(tx, run);
      for (const follow of this.followers) await follow(tx, run, now, correlation);
    });
  }
}
