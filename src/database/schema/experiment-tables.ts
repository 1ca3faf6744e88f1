import type { Generated } from 'kysely';

import type { UsageSums } from './usage-tables.js';

export interface ExperimentTables {
  experiments: ExperimentsTable;
  experiment_rows: ExperimentRowsTable;
  experiment_trials: ExperimentTrialsTable;
}

/**
 * `importing`: its rows are being stored, and clients cannot see it. `removed`: its rows are being deleted, and clients
 * cannot see it any more.
 */
export type ExperimentState = 'importing' | 'running' | 'completed' | 'failed' | 'cancelled' | 'removed';

/** The usage sums cover its ended trials and their judges. */
export interface ExperimentsTable extends UsageSums {
  seq: Generated<number>;
  id: string;
  name: string | null;
  state: ExperimentState;
  /** JSON of a Definition (src/features/experiments/definition.ts). */
  definition: string;
  /** How many variants it has. */
  variants: number;
  /** JSON of a list of their names, for lists, which do not read the definition. */
  variant_names: string;
  row_count: Generated<number>;
  /** How many trials may run at the same time. */
  max_workers: number;
  /** No trial starts when the ended ones have used this. Null for no limit. */
  max_cost: number | null;
  max_tokens: number | null;
  /** How many trials were started: those of the first row, one for each variant, then those of the next row. */
  next_trial: Generated<number>;
  /** Trials that were started and have not ended. */
  open_trials: Generated<number>;
  ended_trials: Generated<number>;
  /** How many of the ended ones have no output. */
  failed_trials: Generated<number>;
  /** JSON of a Summary (src/features/experiments/summary.ts). Null until it has ended. */
  summary: Generated<string | null>;
  error: Generated<string | null>;
  created_at: number;
  /** Set in the state `running` too, if it was cancelled and its summary is not stored yet. */
  ended_at: Generated<number | null>;
}

export type OriginKind = 'artifact' | 'correlation';

/** A row of the data set of an experiment. It has either an origin or inputs. */
export interface ExperimentRowsTable {
  experiment_seq: number;
  /** Starts at 0. */
  position: number;
  /** The id of the artifact or correlation that its trials replay. */
  origin: string | null;
  origin_kind: OriginKind | null;
  /** JSON of the inputs of its trials. */
  inputs: string | null;
  /** JSON of the expected value from a CSV. */
  expected: string | null;
  /** Why the row cannot be tried. */
  problem: string | null;
  /** The beginning of the JSON of its input and of the expected value, from its first trial that ended. */
  input_shown: string | null;
  expected_shown: string | null;
}

/** `judging`: its correlation has ended, and agents that judge its output have not. */
export type TrialState = 'running' | 'judging' | 'ended';

/** One variant on one row. */
export interface ExperimentTrialsTable extends UsageSums {
  experiment_seq: number;
  position: number;
  /** Index of the variant, from 0. */
  variant: number;
  /** Stored before the correlation begins, so that after a crash it begins once. */
  correlation_id: string;
  state: TrialState;
  /** JSON of a list of Score (src/features/experiments/score.ts), one for each scorer. Null until there is an output. */
  scores: Generated<string | null>;
  output_id: Generated<string | null>;
  /** Equal outputs have equal digests. */
  output_digest: Generated<string | null>;
  /** The beginning of the output's JSON. */
  output_shown: Generated<string | null>;
  /** Why it has no output. */
  error: Generated<string | null>;
  duration_ms: Generated<number | null>;
}
