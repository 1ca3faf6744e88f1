import type { Generated } from 'kysely';

import type { UsageSums } from './usage-tables.js';

/** Runs, and batches of runs. */
export interface RunTables {
  runs: RunsTable;
  batches: BatchesTable;
  batch_rows: BatchRowsTable;
  batch_keys: BatchKeysTable;
}

/** `starting` is not stored: it is a running run whose execution was not claimed yet. */
export type RunState = 'running' | 'completed' | 'failed' | 'cancelled';

/** A correlation as a run (docs/api.md, "Run a workflow"). Both have the same id. */
export interface RunsTable {
  /** Position in the order of creation. */
  seq: Generated<number>;
  id: string;
  agent: string;
  status: RunState;
  /** The execution that runs the named agent on the inputs. Null if a batch row could not be turned into inputs. */
  execution_id: string | null;
  batch_id: string | null;
  /** The round of the batch that started it. A failed run of an earlier round will run again. */
  batch_round: number;
  /** How many items of the batch it represents: its own and those that repeat its row. */
  batch_items: number;
  created_at: number;
  ended_at: number | null;
  error: string | null;
}

/**
 * `importing`: its rows are still being read, and it is not visible to clients. `removed`: its rows are being deleted,
 * and it is no longer visible. `starting` is not stored: it is a running batch without a first run.
 */
export type BatchState = 'importing' | 'running' | 'completed' | 'failed' | 'cancelled' | 'removed';

/** The usage sums cover its ended runs. */
export interface BatchesTable extends UsageSums {
  seq: Generated<number>;
  id: string;
  agent: string;
  status: BatchState;
  /** How many runs may run at the same time. */
  max_workers: number;
  total_items: number;
  succeeded_items: number;
  failed_items: number;
  /** Runs that were started and have not ended. */
  running_runs: number;
  /** The first row that this round has not processed yet. */
  next_position: number;
  /** Starts at 0 and increases with every `retry-failed`. */
  round: number;
  /** JSON of the inputs that every run gets. A row's own values take precedence. */
  static_inputs: string;
  /** Bytes that the inputs of all runs take in the database, including `static_inputs`. */
  stored_bytes: Generated<number>;
  /** 1 if it was ever cancelled, so some of its rows may never run. */
  was_cancelled: Generated<number>;
  error: string | null;
  /** The process that imports its rows, and the end of its lease. Null when all rows are stored. */
  import_owner: string | null;
  import_until: number | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
}

export interface BatchRowsTable {
  /** `batches.seq`, because it is shorter than the id and a batch may have a million rows. */
  batch_seq: number;
  /** Starts at 0, in the order of the input. */
  position: number;
  /** JSON of the run's inputs. */
  inputs: string;
  /** Why the row cannot be turned into inputs. Only this row fails. */
  problem: string | null;
  /** Position of the first row with the same `row_key`, whose result this row repeats. Null for that first row. */
  repeats: number | null;
  /** How many rows repeat this one. */
  copies: Generated<number>;
  run_id: string | null;
}

/** The first row for each `row_key` value, while rows are imported. */
export interface BatchKeysTable {
  batch_seq: number;
  key: string;
  position: number;
}
