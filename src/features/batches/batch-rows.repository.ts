import { Injectable } from '@nestjs/common';

import { AT_ONCE } from '../../blackboard/retention/cleanup.js';
import { amongFound } from '../../database/dialects/dialect.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import { sharing, updateGiven } from '../../database/shared-statement.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { ItemRow } from './results-text.js';

/** A row that may have to be started, with the status of its last run. */
export interface DueRow {
  position: number;
  /** Characters of its inputs. */
  size: number;
  problem: string | null;
  repeats: number | null;
  copies: number;
  run_status: string | null;
  run_round: number | null;
}

/** A row whose run failed. */
export interface FailedRow {
  position: number;
  run_id: string;
  error: string | null;
  /** How many items it stands for: itself and those that repeat it. */
  items: number;
}

/** Positions of a batch's rows, from `low` to below `high`. Failed runs of a round before `round` do not count. */
interface Stretch {
  seq: number;
  round: number;
  low: number;
  high: number;
}

/** The stored rows of batches. */
@Injectable()
export class BatchRowsRepository {
  /** Returns rows of a batch in order, without their inputs, which can be large. */
  from(tx: Transaction, seq: number, from: number, limit: number): Promise<DueRow[]> {
    return findDue(tx.db, { seq, from, limit });
  }

  /** Returns the inputs at these positions as JSON, without the `static_inputs` of the batch. Deleted rows are absent. */
  async inputsOf(db: Reader, seq: number, positions: readonly number[]): Promise<Map<number, string>> {
    const rows = await findInputs(db, { seq }, positions);
    return new Map(rows.map(({ position, inputs }) => [position, inputs]));
  }

  async rememberRun(tx: Transaction, seq: number, position: number, runId: string): Promise<void> {
    await setRun(tx.db, { seq, position, runId });
  }

  /**
   * Returns the runs of the items that completed or failed, up to the time `until`. A row that repeats another one shows
   * the run of that row. While a batch is running, a failed run of an earlier round is not a result, because its item runs
   * again.
   */
  ended(db: Reader, stretch: Stretch & { until: number }): Promise<ItemRow[]> {
    return findItems(db, stretch);
  }

  /** Returns the rows whose runs failed, without those that repeat them. Rounds count as in `ended`. */
  failed(db: Reader, stretch: Stretch): Promise<FailedRow[]> {
    return findFailed(db, stretch);
  }

  /** Deletes some rows of a batch. Returns their number, which is below AT_ONCE when no row is left. */
  async deleteSome({ db }: Transaction, seq: number): Promise<number> {
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
  }
}

const findDue = prepared<{ seq: number; from: number; limit: number }, DueRow>((db, place) =>
  db
    .selectFrom('batch_rows')
    .leftJoin('runs', 'runs.id', 'batch_rows.run_id')
    .select(['position', 'problem', 'repeats', 'copies', 'runs.status as run_status', 'runs.batch_round as run_round'])
    .select(({ fn }) => fn<number>('length', ['inputs']).as('size'))
    .where('batch_seq', '=', place('seq'))
    .where('position', '>=', place('from'))
    .orderBy('position')
    .limit(place('limit')),
);

const findInputs = preparedWithList<{ seq: number }, number, { position: number; inputs: string }>(
  (db, place, positions) =>
    db
      .selectFrom('batch_rows')
      .select(['position', 'inputs'])
      .where('batch_seq', '=', place('seq'))
      .where('position', 'in', positions),
);

const setRun = sharing<{ seq: number; position: number; runId: string }, unknown>(
  prepared((db, place) =>
    db
      .updateTable('batch_rows')
      .set({ run_id: place('runId') })
      .where('batch_seq', '=', place('seq'))
      .where('position', '=', place('position')),
  ),
  {
    table: 'batch_rows',
    columns: ['batch_seq', 'position', 'run_id'],
    rowOf: ({ seq, position, runId }) => ({ batch_seq: seq, position, run_id: runId }),
    key: 'run_id',
    answers: false,
    addsRows: false,
    build: (db, given) =>
      updateGiven(db.updateTable('batch_rows'), {
        table: 'batch_rows',
        columns: ['run_id'],
        given,
        key: ['batch_seq', 'position'],
      }),
  },
);

const findItems = prepared<Stretch & { until: number }, ItemRow>((db, place) =>
  db
    .selectFrom('batch_rows as item')
    .innerJoin('batch_rows as owner', (join) =>
      join
        .onRef('owner.batch_seq', '=', 'item.batch_seq')
        .on(({ eb, fn, ref }) => eb('owner.position', '=', fn.coalesce(ref('item.repeats'), ref('item.position')))),
    )
    .innerJoin('runs', 'runs.id', 'owner.run_id')
    .leftJoin('executions', 'executions.id', 'runs.execution_id')
    .leftJoin('correlations', 'correlations.id', 'runs.id')
    .selectAll('runs')
    .select([
      'item.position',
      'owner.position as owner',
      'executions.started_at',
      'correlations.input_tokens',
      'correlations.output_tokens',
      'correlations.cost',
    ])
    .where('item.batch_seq', '=', place('seq'))
    .where('item.position', '>=', place('low'))
    .where('item.position', '<', place('high'))
    .where('runs.ended_at', '<=', place('until'))
    .where(({ or, and, eb }) =>
      or([
        eb('runs.status', '=', 'completed'),
        and([eb('runs.status', '=', 'failed'), eb('runs.batch_round', '>=', place('round'))]),
      ]),
    )
    .orderBy('item.position'),
);

const findFailed = prepared<Stretch, FailedRow>((db, place) =>
  db
    .selectFrom('batch_rows')
    .innerJoin('runs', 'runs.id', 'batch_rows.run_id')
    .select(['position', 'runs.id as run_id', 'runs.error', 'runs.batch_items as items'])
    .where('batch_seq', '=', place('seq'))
    .where('position', '>=', place('low'))
    .where('position', '<', place('high'))
    .where('runs.status', '=', 'failed')
    .where('runs.batch_round', '>=', place('round'))
    .orderBy('position'),
);
