import { Injectable } from '@nestjs/common';
import { type RawBuilder, sql } from 'kysely';

import { AT_ONCE } from '../../blackboard/retention/cleanup.js';
import { amongFound, locking } from '../../database/dialects/dialect.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import type { BatchState } from '../../database/schema.js';
import { sharing } from '../../database/shared-statement.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { BatchRow } from './batch.js';

export interface BatchFilter {
  /** Status on the wire. `starting` is a running batch without a first run. */
  status: 'starting' | Exclude<BatchState, 'importing' | 'removed'> | null;
  agent: string | null;
  /** Epoch ms, inclusive. */
  from: number | null;
  to: number | null;
}

/** A running batch, with the number of running batches of its agent and of all given agents, including itself. */
export type RunningBatch = BatchRow & { batches_of_agent: number; batches_in_all: number };

/** The counts that the end of a run adds: items of the batch, and model usage. */
export interface EndedRun {
  succeeded: number;
  failed: number;
  inputTokens: number;
  outputTokens: number;
  cost: number | null;
}

/** The columns that a step of a batch changes. */
export type BatchProgress = Pick<BatchRow, 'next_position' | 'running_runs' | 'failed_items' | 'started_at'>;

@Injectable()
export class BatchesRepository {
  /** Finds a batch, unless it is still being imported or is being deleted. */
  async find(db: Reader, id: string): Promise<BatchRow | undefined> {
    return db
      .selectFrom('batches')
      .selectAll()
      .where('id', '=', id)
      .where('status', 'not in', HIDDEN)
      .executeTakeFirst();
  }

  /** Finds and locks the batch until the end of the transaction. */
  async hold(tx: Transaction, id: string): Promise<BatchRow | undefined> {
    const batch = tx.db.selectFrom('batches').selectAll().where('id', '=', id).where('status', 'not in', HIDDEN);
    return locking(tx.db, batch, { wait: true }).executeTakeFirst();
  }

  /** Finds and locks a running batch of one of these agents. */
  async findRunning(tx: Transaction, seq: number, agents: readonly string[]): Promise<RunningBatch | undefined> {
    const [batch] = await findRunning(tx.db, { seq }, agents);
    return batch;
  }

  get(tx: Transaction, seq: number): Promise<BatchRow> {
    return tx.db.selectFrom('batches').selectAll().where('seq', '=', seq).executeTakeFirstOrThrow();
  }

  async running(db: Reader): Promise<number[]> {
    const rows = await db.selectFrom('batches').select('seq').where('status', '=', 'running').execute();
    return rows.map(({ seq }) => seq);
  }

  async saveProgress(tx: Transaction, seq: number, progress: BatchProgress): Promise<void> {
    await saveProgress(tx.db, { seq, ...progress });
  }

  /** Counts the end of a run. Returns the `seq` of its batch. */
  async countEnded(tx: Transaction, id: string, ended: EndedRun): Promise<number | undefined> {
    const [row] = await countEnded(tx.db, { id, ...ended });
    return row?.seq;
  }

  async end(
    tx: Transaction,
    seq: number,
    status: Exclude<BatchState, 'importing' | 'running' | 'removed'>,
    endedAt: number,
    error: string | null,
  ): Promise<void> {
    const cancelled = status === 'cancelled' ? { was_cancelled: 1 } : {};
    await tx.db
      .updateTable('batches')
      .set({ status, ended_at: endedAt, error, ...cancelled })
      .where('seq', '=', seq)
      .execute();
  }

  /** Begins a new round, which runs the failed items again. */
  async reopen(tx: Transaction, { seq, round }: BatchRow): Promise<void> {
    await tx.db
      .updateTable('batches')
      .set({ status: 'running', round: round + 1, next_position: 0, failed_items: 0, ended_at: null, error: null })
      .where('seq', '=', seq)
      .execute();
  }

  /**
   * Counts the failed items again after a cancelled round. Items that did not run in that round still count as failed.
   * Reads every row.
   */
  async recountFailed(tx: Transaction, seq: number): Promise<void> {
    const failed = tx.db
      .selectFrom('batch_rows')
      .innerJoin('runs', 'runs.id', 'batch_rows.run_id')
      .select(({ fn }) => fn.coalesce(fn.sum<number>('runs.batch_items'), sql.lit(0)).as('items'))
      .where('batch_seq', '=', seq)
      .where('runs.status', '=', 'failed');
    await tx.db.updateTable('batches').set({ failed_items: failed }).where('seq', '=', seq).execute();
  }

  /** Returns the page, newest first, plus one further row if more rows match. */
  list(
    db: Reader,
    { status, agent, from, to }: BatchFilter,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<BatchRow[]> {
    let query = db
      .selectFrom('batches')
      .selectAll()
      .where('status', 'not in', HIDDEN)
      .limit(limit + 1)
      .offset(offset);
    // With a time filter alone, the index over `created_at` finds the page. Otherwise a page far back would read all
    // newer batches.
    if (status === null && agent === null) query = query.orderBy('created_at', 'desc');
    query = query.orderBy('seq', 'desc');
    if (status !== null) query = query.where('status', '=', status === 'starting' ? 'running' : status);
    if (status === 'starting') query = query.where('started_at', 'is', null);
    if (status === 'running') query = query.where('started_at', 'is not', null);
    if (agent !== null) query = query.where('agent', '=', agent);
    if (from !== null) query = query.where('created_at', '>=', from);
    if (to !== null) query = query.where('created_at', '<=', to);
    return query.execute();
  }

  /** Sums the bytes that the waiting rows of all batches will store (see `waitingBytes`). */
  async waitingBytes(db: Reader): Promise<number> {
    const share = sql<number>`case when status = 'importing' then 1.0 else 1.0 - cast(next_position as double precision) / total_items end`;
    const { bytes } = await db
      .selectFrom('batches')
      .select(sql<number>`cast(coalesce(sum(stored_bytes * (${share})), 0) as double precision)`.as('bytes'))
      .where('status', 'in', ['importing', 'running'])
      .executeTakeFirstOrThrow();
    return Number(bytes);
  }

  /** Hides some batches that ended at or before `cutoff` (epoch ms). Returns their number. */
  async hideSome({ db }: Transaction, cutoff: number): Promise<number> {
    const ended = db
      .selectFrom('batches')
      .select('seq')
      .where('status', 'in', ENDED)
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
      .where('status', 'in', ENDED)
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }

  /** Returns the hidden batches, which still have to be deleted. */
  hidden(db: Reader): Promise<{ seq: number; id: string }[]> {
    return findHidden(db, {});
  }

  /** Deletes a batch that has no rows. Returns the number of deleted batches. */
  async delete({ db }: Transaction, seq: number): Promise<number> {
    return Number((await db.deleteFrom('batches').where('seq', '=', seq).executeTakeFirst()).numDeletedRows);
  }
}

const HIDDEN = ['importing', 'removed'] as const;
const ENDED = ['completed', 'failed', 'cancelled'] as const;

const findRunning = preparedWithList<{ seq: number }, string, RunningBatch>((db, place, agents) => {
  const batch = db
    .selectFrom('batches')
    .selectAll()
    .select(({ selectFrom }) => {
      const running = selectFrom('batches as beside')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('beside.status', '=', 'running');
      return [
        running.whereRef('beside.agent', '=', 'batches.agent').$asScalar().$notNull().as('batches_of_agent'),
        running.where('beside.agent', 'in', agents).$asScalar().$notNull().as('batches_in_all'),
      ];
    })
    .where('seq', '=', place('seq'))
    .where('agent', 'in', agents)
    .where('status', '=', 'running');
  return locking(db, batch, { wait: true });
});

const saveProgress = prepared<BatchProgress & { seq: number }, unknown>((db, place) =>
  db
    .updateTable('batches')
    .set({
      next_position: place('next_position'),
      running_runs: place('running_runs'),
      failed_items: place('failed_items'),
      started_at: place('started_at'),
    })
    .where('seq', '=', place('seq')),
);

const countEnded = sharing<EndedRun & { id: string }, { seq: number }>(
  prepared((db, place) =>
    db
      .updateTable('batches')
      .set({
        running_runs: sql<number>`running_runs - 1`,
        succeeded_items: sql<number>`succeeded_items + ${place('succeeded')}`,
        failed_items: sql<number>`failed_items + ${place('failed')}`,
        input_tokens: sql<number>`input_tokens + ${place('inputTokens')}`,
        output_tokens: sql<number>`output_tokens + ${place('outputTokens')}`,
        // Usage without a price adds nothing. Null means that no usage has a price.
        cost: sql<number | null>`coalesce(cost + ${place('cost')}, cost, ${place('cost')})`,
      })
      .where('id', '=', place('id'))
      .returning('seq'),
  ),
  {
    table: 'batches',
    columns: ['id', 'succeeded_items', 'failed_items', 'input_tokens', 'output_tokens', 'cost'],
    rowOf: ({ id, succeeded, failed, inputTokens, outputTokens, cost }) => ({
      id,
      succeeded_items: succeeded,
      failed_items: failed,
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      cost,
    }),
    key: 'id',
    mayRepeat: true,
    answers: true,
    addsRows: false,
    build: (db, given) =>
      db
        .updateTable('batches')
        .from(sumsOf(given).as('ended'))
        .set({
          running_runs: sql<number>`running_runs - ended.runs`,
          succeeded_items: sql<number>`succeeded_items + ended.succeeded`,
          failed_items: sql<number>`failed_items + ended.failed`,
          input_tokens: sql<number>`input_tokens + ended.input`,
          output_tokens: sql<number>`output_tokens + ended.output`,
          cost: sql<number | null>`coalesce(batches.cost + ended.spent, batches.cost, ended.spent)`,
        })
        .whereRef('batches.id', '=', 'ended.id')
        .returning(['batches.seq', 'batches.id']),
  },
);

/** Adds up the ends of the runs of each batch. */
const sumsOf = (given: RawBuilder<unknown>) => sql<{ id: string }>`(
  select given.id, count(*) as runs, sum(given.succeeded_items) as succeeded, sum(given.failed_items) as failed,
    sum(given.input_tokens) as input, sum(given.output_tokens) as output, sum(given.cost) as spent
  from ${given} group by given.id order by given.id)`;

const findHidden = prepared<object, { seq: number; id: string }>((db) =>
  db.selectFrom('batches').select(['seq', 'id']).where('status', '=', 'removed').orderBy('seq'),
);
