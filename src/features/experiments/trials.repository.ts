import { Injectable } from '@nestjs/common';
import { type Selectable, sql } from 'kysely';

import { AT_ONCE } from '../../blackboard/retention/cleanup.js';
import type { CorrelationCondition } from '../../blackboard/retention/settled-correlations.js';
import { amongFound } from '../../database/dialects/dialect.js';
import { preparedInsert } from '../../database/prepared.js';
import type { CorrelationState, ExperimentTrialsTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';

export type Trial = Selectable<ExperimentTrialsTable>;

export type NewTrial = Pick<Trial, 'position' | 'variant' | 'correlation_id'>;

/** A trial that has not ended, with its correlation, whose columns are null until it has begun. */
export interface OpenTrial extends NewTrial {
  state: Trial['state'];
  scores: string | null;
  input_tokens: number;
  output_tokens: number;
  cost: number | null;
  /** Why its row cannot be tried at all; null if it can. */
  problem: string | null;
  correlation_state: CorrelationState | null;
  started_at: number | null;
  settled_at: number | null;
  used_input: number | null;
  used_output: number | null;
  used_cost: number | null;
}

/** The columns that change when the correlation of a trial has ended. */
export type TrialResult = NewTrial &
  Pick<
    Trial,
    | 'state'
    | 'scores'
    | 'output_id'
    | 'output_digest'
    | 'output_shown'
    | 'error'
    | 'duration_ms'
    | 'input_tokens'
    | 'output_tokens'
    | 'cost'
  >;

const SCORED = [
  'position',
  'variant',
  'scores',
  'output_digest',
  'error',
  'input_tokens',
  'output_tokens',
  'cost',
] as const satisfies (keyof Trial)[];

/** The columns of a trial that the summary reads. */
export type ScoredTrial = Pick<Trial, (typeof SCORED)[number]>;

/** The trials of experiments. */
@Injectable()
export class TrialsRepository {
  async insert({ db }: Transaction, seq: number, trials: readonly NewTrial[]): Promise<void> {
    await insertTrials(
      db,
      trials.map((trial) => ({ experiment_seq: seq, state: 'running' as const, ...trial })),
    );
  }

  open(db: Reader, seq: number): Promise<OpenTrial[]> {
    return db
      .selectFrom('experiment_trials as trial')
      .innerJoin('experiment_rows as row', (join) =>
        join.onRef('row.experiment_seq', '=', 'trial.experiment_seq').onRef('row.position', '=', 'trial.position'),
      )
      .leftJoin('correlations', 'correlations.id', 'trial.correlation_id')
      .select(['trial.position', 'trial.variant', 'trial.correlation_id', 'trial.state', 'trial.scores'])
      .select(['trial.input_tokens', 'trial.output_tokens', 'trial.cost', 'row.problem'])
      .select([
        'correlations.state as correlation_state',
        'correlations.started_at',
        'correlations.settled_at',
        'correlations.input_tokens as used_input',
        'correlations.output_tokens as used_output',
        'correlations.cost as used_cost',
      ])
      .where('trial.experiment_seq', '=', seq)
      .where('trial.state', '<>', sql.lit('ended' as const))
      .orderBy('trial.position')
      .orderBy('trial.variant')
      .execute();
  }

  /** Stores the result of a trial. Returns false if it had ended before. */
  async save(
    { db }: Transaction,
    seq: number,
    result: Pick<TrialResult, 'position' | 'variant' | 'state'> & Partial<TrialResult>,
  ): Promise<boolean> {
    const { position, variant, ...columns } = result;
    const { numUpdatedRows } = await db
      .updateTable('experiment_trials')
      .set(columns)
      .where('experiment_seq', '=', seq)
      .where('position', '=', position)
      .where('variant', '=', variant)
      .where('state', '<>', sql.lit('ended' as const))
      .executeTakeFirst();
    return numUpdatedRows > 0n;
  }

  /** Returns the trials of these rows, by position and variant. */
  of(db: Reader, seq: number, positions: readonly number[]): Promise<Trial[]> {
    if (positions.length === 0) return Promise.resolve([]);
    return db
      .selectFrom('experiment_trials')
      .selectAll()
      .where('experiment_seq', '=', seq)
      .where('position', 'in', positions)
      .orderBy('position')
      .orderBy('variant')
      .execute();
  }

  /**
   * Returns positions of rows that have begun, after one of them and up to another. `changedOf`: only those with so many
   * trials, whose outputs are known and differ; null: all.
   */
  async positions(
    db: Reader,
    seq: number,
    { after, to, limit, changedOf }: { after: number; to: number; limit: number; changedOf: number | null },
  ): Promise<number[]> {
    let query = db
      .selectFrom('experiment_trials')
      .select('position')
      .where('experiment_seq', '=', seq)
      .where('position', '>', after)
      .where('position', '<=', to)
      .groupBy('position')
      .orderBy('position')
      .limit(limit);
    if (changedOf !== null) query = query.having(sql<boolean>`count(*) = ${changedOf} and ${DIFFER}`);
    return (await query.execute()).map(({ position }) => position);
  }

  /** Returns some trials that have ended, in the order of rows, from a row on. */
  scored(db: Reader, seq: number, { from, rows }: { from: number; rows: number }): Promise<ScoredTrial[]> {
    return db
      .selectFrom('experiment_trials')
      .select(SCORED)
      .where('experiment_seq', '=', seq)
      .where('position', '>=', from)
      .where('position', '<', from + rows)
      .where('state', '=', 'ended')
      .execute();
  }

  /** Deletes some trials. Returns their number, which is below AT_ONCE when few are left. */
  async deleteSome({ db }: Transaction, seq: number): Promise<number> {
    // By rows, which have few trials each.
    const part = db
      .selectFrom('experiment_trials')
      .select('position')
      .where('experiment_seq', '=', seq)
      .orderBy('position')
      .limit(AT_ONCE);
    const { numDeletedRows } = await db
      .deleteFrom('experiment_trials')
      .where('experiment_seq', '=', seq)
      .where(amongFound(db, 'position', part))
      .executeTakeFirst();
    return Number(numDeletedRows);
  }
}

/**
 * Whether the correlation is that of a trial that has not ended, or that of one of its judges. The index on open trials is
 * small.
 */
export const hasOpenTrial: CorrelationCondition = ({ exists, selectFrom }) =>
  exists(
    selectFrom('experiment_trials')
      .select('experiment_trials.position')
      .where('experiment_trials.state', '<>', sql.lit('ended' as const))
      .where(({ eb, or }) =>
        or([
          eb('experiment_trials.correlation_id', '=', eb.ref('correlations.id')),
          eb('experiment_trials.correlation_id', '=', eb.ref('correlations.origin')),
        ]),
      ),
  );

/** A trial without an output differs from one with an output. */
const DIFFER = sql<boolean>`min(state) = 'ended' and max(state) = 'ended' and min(coalesce(output_digest, '')) <> max(coalesce(output_digest, ''))`;

const insertTrials = preparedInsert('experiment_trials', [
  'experiment_seq',
  'position',
  'variant',
  'correlation_id',
  'state',
]);
