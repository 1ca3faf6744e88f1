import { Injectable, type OnModuleInit } from '@nestjs/common';
import { sql } from 'kysely';

import { AT_ONCE, type Cleanup, type Deletion } from '../../blackboard/retention/cleanup.js';
import { Retention } from '../../blackboard/retention/retention.js';
import { type CorrelationCondition, SettledCorrelations } from '../../blackboard/retention/settled-correlations.js';
import { Settings } from '../../config/settings.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';

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
  ) {}

  onModuleInit(): void {
    this.retention.add(this);
    this.correlations.add({ readsContent: hasRun, names: hasRun });
  }

  async run(cleanup: Cleanup): Promise<number> {
    const cutoff = cleanup.cutoff(this.settings.retainRunsMs);
    if (cutoff === null) return 0;
    let place = { after: 0, afterSeq: 0 };
    let deleted = 0;
    while (await cleanup.goesOn()) {
      const old = await findOld(this.unitOfWork.reader, { ...place, cutoff });
      const last = old.at(-1);
      if (!last) break;
      place = { after: last.created_at, afterSeq: last.seq };
      const ids = old
        .filter(({ batch_id, ended_at }) => batch_id === null && ended_at !== null && ended_at <= cutoff)
        .map(({ id }) => id);
      if (ids.length > 0) deleted += await cleanup.step((tx) => this.remove(tx, cleanup, ids));
    }
    return deleted;
  }

  /** Deletes all runs of an ended batch. Returns false where some are left for a later cleanup. */
  async removeBatch(cleanup: Cleanup, batchId: string): Promise<boolean> {
    while (await cleanup.goesOn()) {
      const some = await findOfBatch(this.unitOfWork.reader, { batchId });
      if (some.length === 0) return true;
      if (
        (await cleanup.step((tx) =>
          this.remove(
            tx,
            cleanup,
            some.map(({ id }) => id),
          ),
        )) === 0
      )
        return false;
    }
    return false;
  }

  private async remove(tx: Transaction, { settledBy }: Cleanup, ids: readonly string[]): Promise<number> {
    const held = await this.correlations.hold(tx, ids, settledBy);
    await deleteRuns(tx.db, {}, held);
    await this.correlations.removeEmpty(tx, held);
    return held.length;
  }
}

const hasRun: CorrelationCondition = ({ exists, selectFrom }) =>
  exists(selectFrom('runs').select('runs.seq').whereRef('runs.id', '=', 'correlations.id'));

interface OldRun {
  seq: number;
  id: string;
  batch_id: string | null;
  created_at: number;
  ended_at: number | null;
}

const findOld = prepared<{ after: number; afterSeq: number; cutoff: number }, OldRun>((db, place) =>
  db
    .selectFrom('runs')
    .select(['seq', 'id', 'batch_id', 'created_at', 'ended_at'])
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at', 'seq'), '>', tuple(place('after'), place('afterSeq'))),
    )
    .where('created_at', '<=', place('cutoff'))
    .orderBy('created_at')
    .orderBy('seq')
    .limit(AT_ONCE),
);

const findOfBatch = prepared<{ batchId: string }, { id: string }>((db, place) =>
  db
    .selectFrom('runs')
    .select('id')
    .where('batch_id', '=', place('batchId'))
    .where('batch_id', 'is not', null)
    .orderBy('seq')
    .limit(AT_ONCE),
);

// A run ends with its correlation. The correlations that are held here have settled, so that none of the runs is
// running.
const deleteRuns = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db
    .deleteFrom('runs')
    .where('id', 'in', ids)
    .where('status', '<>', sql.lit('running' as const)),
);
