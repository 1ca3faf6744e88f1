import { Injectable } from '@nestjs/common';
import { type Insertable, type Selectable, sql } from 'kysely';

import { AT_ONCE } from '../../blackboard/retention/cleanup.js';
import { amongFound, locking } from '../../database/dialects/dialect.js';
import type { ExperimentsTable, ExperimentState } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';

export type WholeExperiment = Selectable<ExperimentsTable>;

/** An experiment without the texts that may be large. */
export type Experiment = Omit<WholeExperiment, 'definition' | 'summary'>;

export type ShownState = Exclude<ExperimentState, 'importing' | 'removed'>;

/** Ended trials add this to the counts of their experiment. */
export interface Ended {
  trials: number;
  failed: number;
  inputTokens: number;
  outputTokens: number;
  /** Null if nothing that was used has a price. */
  cost: number | null;
}

const SHORT = [
  'seq',
  'id',
  'name',
  'state',
  'variants',
  'variant_names',
  'row_count',
  'max_workers',
  'max_cost',
  'max_tokens',
  'next_trial',
  'open_trials',
  'ended_trials',
  'failed_trials',
  'input_tokens',
  'output_tokens',
  'cost',
  'error',
  'created_at',
  'ended_at',
] as const satisfies (keyof Experiment)[];

const HIDDEN = ['importing', 'removed'] as const;
const ENDED = ['completed', 'failed', 'cancelled'] as const;

/** The condition of an index, so that queries with it do not read the experiments that have ended. */
const WITH_WORK = sql<boolean>`(state = 'running' or open_trials > 0)`;

@Injectable()
export class ExperimentsRepository {
  /** Finds an experiment, unless its rows are being stored or deleted. */
  find(db: Reader, id: string): Promise<WholeExperiment | undefined> {
    return db
      .selectFrom('experiments')
      .selectAll()
      .where('id', '=', id)
      .where('state', 'not in', HIDDEN)
      .executeTakeFirst();
  }

  /** Returns the page, newest first, plus one further row where more rows match. */
  list(
    db: Reader,
    state: ShownState | null,
    { limit, offset }: { limit: number; offset: number },
  ): Promise<Experiment[]> {
    let query = db
      .selectFrom('experiments')
      .select(SHORT)
      .where('state', 'not in', HIDDEN)
      .orderBy('seq', 'desc')
      .limit(limit + 1)
      .offset(offset);
    if (state !== null) query = query.where('state', '=', state);
    return query.execute();
  }

  async countRunning(db: Reader): Promise<number> {
    const { count } = await db
      .selectFrom('experiments')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where(WITH_WORK)
      .where('state', '=', 'running')
      .executeTakeFirstOrThrow();
    return Number(count);
  }

  /** Finds those that run, and those that have ended and have trials that have not. The oldest come first. */
  withWork(db: Reader): Promise<Experiment[]> {
    return db
      .selectFrom('experiments')
      .select(SHORT)
      .where(WITH_WORK)
      .where('state', 'not in', HIDDEN)
      .orderBy('seq')
      .execute();
  }

  /** Returns the JSON of its definition. Throws if it does not exist. */
  definition(db: Reader, seq: number): Promise<Pick<WholeExperiment, 'definition'>> {
    return db.selectFrom('experiments').select('definition').where('seq', '=', seq).executeTakeFirstOrThrow();
  }

  /** Stores an experiment without rows. Returns its `seq`. */
  async insert({ db }: Transaction, experiment: Insertable<ExperimentsTable>): Promise<number> {
    const { seq } = await db.insertInto('experiments').values(experiment).returning('seq').executeTakeFirstOrThrow();
    return seq;
  }

  /** Hides what an import with this id has left, so that another one can begin. Returns false if it left nothing. */
  async hideImport({ db }: Transaction, id: string): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('experiments')
      .set({ state: 'removed', id: sql<string>`id || '-' || seq` })
      .where('id', '=', id)
      .where('state', '=', 'importing')
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Makes an experiment whose rows are stored visible. Returns false if it was deleted meanwhile. */
  async start({ db }: Transaction, seq: number, rows: number): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('experiments')
      .set({ state: 'running', row_count: rows })
      .where('seq', '=', seq)
      .where('state', '=', 'importing')
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Finds and locks an experiment until the end of the transaction. */
  async hold({ db }: Transaction, seq: number): Promise<Experiment | undefined> {
    const found = db.selectFrom('experiments').select(SHORT).where('seq', '=', seq).where('state', 'not in', HIDDEN);
    return locking(db, found, { wait: true }).executeTakeFirst();
  }

  async countStarted({ db }: Transaction, seq: number, trials: number): Promise<void> {
    await db
      .updateTable('experiments')
      .set(({ eb }) => ({
        next_trial: eb('next_trial', '+', trials),
        open_trials: eb('open_trials', '+', trials),
      }))
      .where('seq', '=', seq)
      .execute();
  }

  async countEnded({ db }: Transaction, seq: number, ended: Ended): Promise<void> {
    const { cost } = ended;
    await db
      .updateTable('experiments')
      .set(({ eb }) => ({
        open_trials: eb('open_trials', '-', ended.trials),
        ended_trials: eb('ended_trials', '+', ended.trials),
        failed_trials: eb('failed_trials', '+', ended.failed),
        input_tokens: eb('input_tokens', '+', ended.inputTokens),
        output_tokens: eb('output_tokens', '+', ended.outputTokens),
        // Usage without a price adds nothing. Null means that no usage has a price.
        ...(cost !== null && { cost: sql<number>`coalesce(cost, 0) + ${cost}` }),
      }))
      .where('seq', '=', seq)
      .execute();
  }

  /**
   * Stores that a running experiment was cancelled, before its summary is known. Returns false if it runs no more.
   */
  async cancel({ db }: Transaction, id: string, at: number): Promise<boolean> {
    const { numUpdatedRows } = await db
      .updateTable('experiments')
      .set({ ended_at: sql<number>`coalesce(ended_at, ${at})` })
      .where('id', '=', id)
      .where('state', '=', 'running')
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Ends a running experiment. Returns false if it runs no more. */
  async end(
    { db }: Transaction,
    id: string,
    end: { state: (typeof ENDED)[number]; error: string | null; summary: string | null; at: number },
  ): Promise<boolean> {
    const { state, error, summary, at } = end;
    const { numUpdatedRows } = await db
      .updateTable('experiments')
      .set({ state, error, summary, ended_at: at })
      .where('id', '=', id)
      .where('state', '=', 'running')
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Hides some that ended at or before `cutoff` (epoch ms). Returns their number. */
  async hideSome({ db }: Transaction, cutoff: number): Promise<number> {
    const ended = db
      .selectFrom('experiments')
      .select('seq')
      .where('state', 'in', ENDED)
      .where('open_trials', '=', 0)
      .where('ended_at', '<=', cutoff)
      .orderBy('seq')
      .limit(AT_ONCE);
    return this.hide(db, ended);
  }

  /** Whether an import began at or before `cutoff` (epoch ms), so that its process has ended. */
  async isLeft(db: Reader, cutoff: number): Promise<boolean> {
    return (await leftIn(db, cutoff).executeTakeFirst()) !== undefined;
  }

  /** Hides imports as in `isLeft`. Returns their number. */
  hideLeft({ db }: Transaction, cutoff: number): Promise<number> {
    return this.hide(db, leftIn(db, cutoff));
  }

  /** Returns the `seq` of those that are hidden and still have to be deleted. */
  async hidden(db: Reader): Promise<number[]> {
    const rows = await db
      .selectFrom('experiments')
      .select('seq')
      .where('state', '=', 'removed')
      .orderBy('seq')
      .execute();
    return rows.map(({ seq }) => seq);
  }

  /** Deletes an experiment that has no rows. */
  async delete({ db }: Transaction, seq: number): Promise<number> {
    return Number((await db.deleteFrom('experiments').where('seq', '=', seq).executeTakeFirst()).numDeletedRows);
  }

  private async hide(db: Reader, seqs: Parameters<typeof amongFound>[2]): Promise<number> {
    const { numUpdatedRows } = await db
      .updateTable('experiments')
      .set({ state: 'removed' })
      .where(amongFound(db, 'seq', seqs))
      .executeTakeFirst();
    return Number(numUpdatedRows);
  }
}

const leftIn = (db: Reader, cutoff: number) =>
  db
    .selectFrom('experiments')
    .select('seq')
    .where('state', '=', 'importing')
    .where('created_at', '<=', cutoff)
    .orderBy('seq')
    .limit(AT_ONCE);
