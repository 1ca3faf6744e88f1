import { Injectable, type OnModuleInit } from '@nestjs/common';

import { AT_ONCE, type Cleanup, type Deletion } from '../../blackboard/retention/cleanup.js';
import { Retention } from '../../blackboard/retention/retention.js';
import { Settings } from '../../config/settings.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { RunDeletion } from '../runs/run-deletion.js';
import { BatchRowsRepository } from './batch-rows.repository.js';
import { BatchesRepository } from './batches.repository.js';

/**
 * Deletes batches that ended longer than `retain_batches` ago, with their rows and runs. A batch is hidden before its
 * first run is deleted, because its results would be incomplete. Later cleanups continue with hidden batches until
 * nothing is left.
 */
@Injectable()
export class BatchDeletion implements Deletion, OnModuleInit {
  readonly name = 'batches';

  constructor(
    private readonly settings: Settings,
    private readonly unitOfWork: UnitOfWork,
    private readonly retention: Retention,
    private readonly runs: RunDeletion,
    private readonly batches: BatchesRepository,
    private readonly rows: BatchRowsRepository,
  ) {}

  onModuleInit(): void {
    this.retention.add(this);
  }

  async run(cleanup: Cleanup): Promise<number> {
    const cutoff = cleanup.cutoff(this.settings.retainBatchesMs);
    let hidden = 0;
    for (let some = AT_ONCE; cutoff !== null && some === AT_ONCE && (await cleanup.goesOn()); hidden += some) {
      some = await cleanup.step((tx) => this.batches.hideSome(tx, cutoff));
    }
    for (const batch of await this.batches.hidden(this.unitOfWork.reader)) await this.remove(cleanup, batch);
    return hidden;
  }

  private async remove(cleanup: Cleanup, { seq, id }: { seq: number; id: string }): Promise<void> {
    if (!(await this.runs.removeBatch(cleanup, id))) return;
    for (let deleted = AT_ONCE; deleted === AT_ONCE;) {
      if (!(await cleanup.goesOn())) return;
      deleted = await cleanup.step((tx) => this.rows.deleteSome(tx, seq));
    }
    await cleanup.step((tx) => this.batches.delete(tx, seq));
  }
}
