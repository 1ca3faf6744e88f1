import { Injectable, type OnModuleInit } from '@nestjs/common';

import { AT_ONCE, type Cleanup, type Deletion } from '../../blackboard/retention/cleanup.js';
import { Retention } from '../../blackboard/retention/retention.js';
import { Settings } from '../../config/settings.js';
import { amongFound } from '../../database/dialects/dialect.js';
import { prepared } from '../../database/prepared.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { RunDeletion } from '../runs/run-deletion.js';

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
  ) {}

  onModuleInit(): void {
    this.retention.add(this);
  }

  async run(cleanup: Cleanup): Promise<number> {
    const cutoff = cleanup.cutoff(this.settings.retainBatchesMs);
    let hidden = 0;
    for (let some = AT_ONCE; cutoff !== null && some === AT_ONCE && (await cleanup.goesOn()); hidden += some) {
      some = await this.hideSome(cleanup, cutoff);
    }
    for (const batch of await findHidden(this.unitOfWork.reader, {})) await this.remove(cleanup, batch);
    return hidden;
  }

  private hideSome(cleanup: Cleanup, cutoff: number): Promise<number> {
    return cleanup.step(async ({ db }) => {
      const ended = db
        .selectFrom('batches')
        .select('seq')
        .where('status', 'in', ['completed', 'failed', 'cancelled'])
        .where('created_at', '<=', cutoff)
        .where('ended_at', '<=', cutoff)
        .orderBy('created_at')
        .orderBy('seq')
        .limit(AT_ONCE);
      // Checked again on the updated row, because a retry of failed items may have reopened the batch.
      const { numUpdatedRows } = await db
        .updateTable('batches')
        .set({ status: 'removed' })
        .where(amongFound(db, 'seq', ended))
        .where('status', 'in', ['completed', 'failed', 'cancelled'])
        .executeTakeFirst();
      return Number(numUpdatedRows);
    });
  }

  private async remove(cleanup: Cleanup, { seq, id }: { seq: number; id: string }): Promise<void> {
    if (!(await this.runs.removeBatch(cleanup, id))) return;
    for (let deleted = AT_ONCE; deleted === AT_ONCE;) {
      if (!(await cleanup.goesOn())) return;
      deleted = await cleanup.step(async ({ db }) => {
        const part = db
          .selectFrom('batch_rows')
          .select('position')
          .where('batch_seq', '=', seq)
          .orderBy('position')
          .limit(AT_ONCE);
        const { numDeletedRows } = await db
          .deleteFrom('batch_rows')
          .where('batch_seq', '=', seq)
          .where(amongFound(db, 'position', part))
          .executeTakeFirst();
        return Number(numDeletedRows);
      });
    }
    await cleanup.step(async ({ db }) =>
      Number((await db.deleteFrom('batches').where('seq', '=', seq).executeTakeFirst()).numDeletedRows),
    );
  }
}

const findHidden = prepared<object, { seq: number; id: string }>((db) =>
  db.selectFrom('batches').select(['seq', 'id']).where('status', '=', 'removed').orderBy('seq'),
);
