import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { locking } from '../../database/dialects/dialect.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import type { BatchState } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { BatchRow } from './batch.js';

/** A row that may have to be started, with how its last run went. */
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

export interface BatchFilter {
  /** On the wire: `starting` are the running ones without a first run. */
  status: 'starting' | Exclude<BatchState, 'importing' | 'removed'> | null;
  agent: string | null;
  /** Epoch ms, inclusive. */
  from: number | null;
  to: number | null;
}

/** With how many batches are running, itself among them: of its agent, and of all agents that were named. */
export type RunningBatch = BatchRow & { batches_of_agent: number; batches_in_all: number };

/** What the end of a run counts for: items of the batch, and what it used of models. */
export interface EndedRun {
  succeeded: number;
  failed: number;
  inputTokens: number;
  outputTokens: number;
  cost: number | null;
}

/** What a step of a batch changes. */
export type BatchProgress = Pick<BatchRow, 'next_position' | 'running_runs' | 'failed_items' | 'started_at'>;

@Injectable()
export class BatchesRepository {
  /** A batch that is still being taken in is nobody's business, and neither is one that is being deleted. */
  async find(db: Reader, id: string): Promise<BatchRow | undefined> {
    return db.selectFrom('batches').selectAll().where('id', '=', id).where('status', 'not in', HIDDEN).executeTakeFirst();
  }

  /** From here to its end, the transaction holds the batch. */
  async hold(tx: Transaction, id: string): Promise<BatchRow | undefined> {
    const batch = tx.db.selectFrom('batches').selectAll().where('id', '=', id).where('status', 'not in', HIDDEN);
    return locking(tx.db, batch, { wait: true }).executeTakeFirst();
  }

  /** Holds it too. Only one of these agents. */
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

  /** In order, without their inputs, which can be large. */
  rowsFrom(tx: Transaction, seq: number, from: number, limit: number): Promise<DueRow[]> {
    return findDue(tx.db, { seq, from, limit });
  }

  /** JSON. */
  async inputsOf(tx: Transaction, seq: number, position: number): Promise<string> {
    const [row] = await findInputs(tx.db, { seq, position });
    return row!.inputs;
  }

  async rememberRun(tx: Transaction, seq: number, position: number, runId: string): Promise<void> {
    await setRun(tx.db, { seq, position, runId });
  }

  async saveProgress(tx: Transaction, seq: number, progress: BatchProgress): Promise<void> {
    await saveProgress(tx.db, { seq, ...progress });
  }

  /** Counts the end of one of its runs, and says which batch that was. */
  async countEnded(tx: Transaction, id: string, ended: EndedRun): Promise<number | undefined> {
    const [row] = await countEnded(tx.db, { id, ...ended });
    return row?.seq;
  }

  async end(tx: Transaction, seq: number, status: Exclude<BatchState, 'importing' | 'running' | 'removed'>, endedAt: number, error: string | null): Promise<void> {
    const cancelled = status === 'cancelled' ? { was_cancelled: 1 } : {};
    await tx.db.updateTable('batches').set({ status, ended_at: endedAt, error, ...cancelled }).where('seq', '=', seq).execute();
  }

  /** A new round: its failed items are to run again. */
  async reopen(tx: Transaction, { seq, round }: BatchRow): Promise<void> {
    await tx.db
      .updateTable('batches')
      .set({ status: 'running', round: round + 1, next_position: 0, failed_items: 0, ended_at: null, error: null })
      .where('seq', '=', seq)
      .execute();
  }

  /** After a round that did not come to its end: what has not run again in it has failed as before. Looks at every row. */
  async recountFailed(tx: Transaction, seq: number): Promise<void> {
    const failed = tx.db
      .selectFrom('batch_rows')
      .innerJoin('runs', 'runs.id', 'batch_rows.run_id')
      .select(({ fn }) => fn.coalesce(fn.sum<number>('runs.batch_items'), sql.lit(0)).as('items'))
      .where('batch_seq', '=', seq)
      .where('runs.status', '=', 'failed');
    await tx.db.updateTable('batches').set({ failed_items: failed }).where('seq', '=', seq).execute();
  }

  /** Newest first; one more than the page holds where there are more. */
  list(db: Reader, { status, agent, from, to }: BatchFilter, { limit, offset }: { limit: number; offset: number }): Promise<BatchRow[]> {
    let query = db.selectFrom('batches').selectAll().where('status', 'not in', HIDDEN).limit(limit + 1).offset(offset);
    // Where nothing but a time is asked for, the index over it leads there; else a page far back would read all before it.
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
}

const HIDDEN = ['importing', 'removed'] as const;

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

const findInputs = prepared<{ seq: number; position: number }, { inputs: string }>((db, place) =>
  db.selectFrom('batch_rows').select('inputs').where('batch_seq', '=', place('seq')).where('position', '=', place('position')),
);

const setRun = prepared<{ seq: number; position: number; runId: string }, unknown>((db, place) =>
  db
    .updateTable('batch_rows')
    .set({ run_id: place('runId') })
    .where('batch_seq', '=', place('seq'))
    .where('position', '=', place('position')),
);

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

const countEnded = prepared<EndedRun & { id: string }, { seq: number }>((db, place) =>
  db
    .updateTable('batches')
    .set({
      running_runs: sql<number>`running_runs - 1`,
      succeeded_items: sql<number>`succeeded_items + ${place('succeeded')}`,
      failed_items: sql<number>`failed_items + ${place('failed')}`,
      input_tokens: sql<number>`input_tokens + ${place('inputTokens')}`,
      output_tokens: sql<number>`output_tokens + ${place('outputTokens')}`,
      // What has no price adds nothing, and null says that nothing has one.
      cost: sql<number | null>`coalesce(cost + ${place('cost')}, cost, ${place('cost')})`,
    })
    .where('id', '=', place('id'))
    .returning('seq'),
);
