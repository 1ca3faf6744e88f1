import { Injectable, type OnModuleInit } from '@nestjs/common';

import type { Cleanup, Deletion } from '../../blackboard/retention/cleanup.js';
import { Retention } from '../../blackboard/retention/retention.js';
import { SettledCorrelations } from '../../blackboard/retention/settled-correlations.js';
import { Settings } from '../../config/settings.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { hasRun, RunsRepository } from './runs.repository.js';

/**
 * Deletes runs that ended longer than `retain_runs` ago. Runs of a batch are deleted with the batch. The artifacts and
 * executions of a run stay until the run is deleted, because its result is computed from them.
 */
@Injectable()
export class RunDeletion implements Deletion, OnModuleInit {
  readonly name = 'runs';

  constructor(
    private readonly settings: Settings,
    private readonly unitOfWork: UnitOfWork,
    private readonly retention: Retention,
    private readonly correlations: SettledCorrelations,
    private readonly runs: RunsRepository,
  ) {}

  onModuleInit(): void {
    this.retention.add(this);
    this.correlations.add({ readsContent: hasRun, names: hasRun });
  }

  async run(cleanup: Cleanup): Promise<number> {
    const cutoff = cleanup.cutoff(this.settings.retainRunsMs);
    if (cutoff === null) return 0;
    let last = { created_at: 0, seq: 0 };
    let deleted = 0;
    while (await cleanup.goesOn()) {
      const old = await this.runs.after(this.unitOfWork.reader, last, cutoff);
      if (old.length === 0) break;
      last = old.at(-1)!;
      const ids = old
        .filter(({ batch_id, ended_at }) => batch_id === null && ended_at !== null && ended_at <= cutoff)
        .map(({ id }) => id);
      if (ids.length > 0) deleted += await cleanup.step((tx) => this.remove(tx, cleanup, ids));
    }
    return deleted;
  }

  /** Deletes all runs of an ended batch. Returns false if some are left for a later cleanup. */
  async removeBatch(cleanup: Cleanup, batchId: string): Promise<boolean> {
    while (await cleanup.goesOn()) {
      const some = await this.runs.someOfBatch(this.unitOfWork.reader, batchId);
      if (some.length === 0) return true;
      if ((await cleanup.step((tx) => this.remove(tx, cleanup, some))) === 0) return false;
    }
    return false;
  }

  private async remove(tx: Transaction, { settledBy }: Cleanup, ids: readonly string[]): Promise<number> {
    const held = await this.correlations.hold(tx, ids, settledBy);
    await this.runs.delete(tx, held);
    await this.correlations.removeEmpty(tx, held);
    return held.length;
  }
}
