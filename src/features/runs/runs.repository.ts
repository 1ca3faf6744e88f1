import { Injectable } from '@nestjs/common';
import { type Compilable, type Insertable, type Selectable, sql } from 'kysely';

import { AT_ONCE } from '../../blackboard/retention/cleanup.js';
import type { CorrelationCondition } from '../../blackboard/retention/settled-correlations.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import type { RunsTable, RunState } from '../../database/schema.js';
import { sharedInsert, sharing, updateGiven } from '../../database/shared-statement.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import type { FoundRun, RunRow } from './run.js';

export interface RunFilter {
  /** Status on the wire. `starting` is a running run whose first execution was not claimed yet. */
  status: 'starting' | RunState | null;
  agent: string | null;
  /** Epoch ms, inclusive. */
  from: number | null;
  to: number | null;
}

export interface ListPage {
  limit: number;
  offset: number;
}

interface OldRun {
  seq: number;
  id: string;
  batch_id: string | null;
  created_at: number;
  ended_at: number | null;
}

@Injectable()
export class RunsRepository {
  insert(tx: Transaction, run: Insertable<RunsTable>): Promise<void> {
    return insertRun(tx.db, [run as Required<Insertable<RunsTable>>]);
  }

  /** Whether this artifact is the first input of the run. */
  async wasBegunWith(tx: Transaction, runId: string, artifactId: string): Promise<boolean> {
    const row = await tx.db
      .selectFrom('artifacts')
      .innerJoin('runs', 'runs.id', 'artifacts.correlation_id')
      .select('artifacts.seq')
      .where('artifacts.id', '=', artifactId)
      .where('runs.id', '=', runId)
      .executeTakeFirst();
    return row !== undefined;
  }

  /** Ends a run. Returns null if no open run has this id. */
  async end(
    tx: Transaction,
    end: { id: string; status: Exclude<RunState, 'running'>; error: string | null; endedAt: number },
  ): Promise<Selectable<RunsTable> | null> {
    const [run] = await endOpen(tx.db, end);
    return run ?? null;
  }

  /** Returns the first failed execution of a correlation. */
  async firstFailure(
    tx: Transaction,
    correlationId: string,
  ): Promise<{ agent: string; error_message: string | null } | undefined> {
    const [failure] = await findFailure(tx.db, { correlationId });
    return failure;
  }

  async find(db: Reader, id: string): Promise<FoundRun | undefined> {
    const [run] = await findRuns(db, {}, [id]);
    return run;
  }

  findAll(db: Reader, ids: readonly string[]): Promise<FoundRun[]> {
    return findRuns(db, {}, ids);
  }

  /** Returns the ids of a batch's open runs. */
  async openInBatch(tx: Transaction, batchId: string): Promise<string[]> {
    const rows = await tx.db
      .selectFrom('runs')
      .select('id')
      .where('status', '=', 'running')
      .where('batch_id', '=', batchId)
      .execute();
    return rows.map(({ id }) => id);
  }

  /** Returns the page, newest first, plus one further row if more rows match. */
  list(db: Reader, { status, agent, from, to }: RunFilter, { limit, offset }: ListPage): Promise<RunRow[]> {
    let query = selectRuns(db)
      .limit(limit + 1)
      .offset(offset);
    // With a time filter alone, the index over `created_at` finds the page. Otherwise a page far back would read all
    // newer runs.
    if (status === null && agent === null) query = query.orderBy('runs.created_at', 'desc');
    query = query.orderBy('runs.seq', 'desc');
    if (status !== null) query = query.where('runs.status', '=', status === 'starting' ? 'running' : status);
    if (status === 'starting') query = query.where('executions.started_at', 'is', null);
    if (status === 'running') query = query.where('executions.started_at', 'is not', null);
    if (agent !== null) query = query.where('runs.agent', '=', agent);
    if (from !== null) query = query.where('runs.created_at', '>=', from);
    if (to !== null) query = query.where('runs.created_at', '<=', to);
    return query.execute();
  }

  /** Returns some runs after this one, in the order of creation, that were created at or before `cutoff` (epoch ms). */
  after(db: Reader, last: Pick<OldRun, 'created_at' | 'seq'>, cutoff: number): Promise<OldRun[]> {
    return findOld(db, { after: last.created_at, afterSeq: last.seq, cutoff });
  }

  /** Returns the ids of some runs of a batch. */
  async someOfBatch(db: Reader, batchId: string): Promise<string[]> {
    return (await findOfBatch(db, { batchId })).map(({ id }) => id);
  }

  /**
   * Deletes runs of settled correlations. A run ends with its correlation, so none of them is running.
   */
  async delete(tx: Transaction, ids: readonly string[]): Promise<void> {
    await deleteRuns(tx.db, {}, ids);
  }
}

export const hasRun: CorrelationCondition = ({ exists, selectFrom }) =>
  exists(selectFrom('runs').select('runs.seq').whereRef('runs.id', '=', 'correlations.id'));

const selectRuns = (db: Reader) =>
  db
    .selectFrom('runs')
    .leftJoin('executions', 'executions.id', 'runs.execution_id')
    .selectAll('runs')
    .select('executions.started_at');

const insertRun = sharedInsert('runs', [
  'id',
  'agent',
  'status',
  'execution_id',
  'batch_id',
  'batch_round',
  'batch_items',
  'created_at',
  'ended_at',
  'error',
]);

const endOpen = sharing<{ id: string; status: RunState; error: string | null; endedAt: number }, Selectable<RunsTable>>(
  prepared((db, place) =>
    db
      .updateTable('runs')
      .set({ status: place('status'), error: place('error'), ended_at: place('endedAt') })
      .where('id', '=', place('id'))
      .where('status', '=', 'running')
      .returningAll(),
  ),
  {
    table: 'runs',
    columns: ['id', 'status', 'error', 'ended_at'],
    rowOf: ({ endedAt, ...end }) => ({ ...end, ended_at: endedAt }),
    key: 'id',
    answers: true,
    addsRows: false,
    build: (db, given) =>
      updateGiven(db.updateTable('runs'), { table: 'runs', columns: ['status', 'error', 'ended_at'], given })
        .where('runs.status' as never, '=', 'running' as never)
        .returningAll('runs' as never) as Compilable<Selectable<RunsTable>>,
  },
);

const findFailure = prepared<{ correlationId: string }, { agent: string; error_message: string | null }>((db, place) =>
  db
    .selectFrom('executions')
    .select(['agent', 'error_message'])
    .where('correlation_id', '=', place('correlationId'))
    .where('state', '=', 'failed')
    .orderBy('ended_at')
    .orderBy('seq')
    .limit(1),
);

const findRuns = preparedWithList<object, string, FoundRun>((db, _place, ids) =>
  selectRuns(db)
    .leftJoin('correlations', 'correlations.id', 'runs.id')
    .select(['correlations.input_tokens', 'correlations.output_tokens', 'correlations.cost'])
    .where('runs.id', 'in', ids),
);

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

const deleteRuns = preparedWithList<object, string, unknown>((db, _place, ids) =>
  db
    .deleteFrom('runs')
    .where('id', 'in', ids)
    .where('status', '<>', sql.lit('running' as const)),
);
