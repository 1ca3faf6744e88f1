import type { Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import type { NewExecutionRow } from './queued-execution-rows.js';

/** Agent → since when it is paused (epoch ms). */
export type PausedAgents = ReadonlyMap<string, number>;

/** The answers that a transaction needs from the database before it stores inline runs. */
export interface InlineContext {
  paused: PausedAgents;
  /** Free positions for the outputs of these runs and of those that they trigger. Each output takes the first one. */
  positions: number[];
}

/**
 * An execution whose agent has answered before the transaction that adds it, so that it can be stored as completed, together
 * with its outputs. The transaction may also ignore the answer and add it like any other execution.
 */
export interface InlineRun {
  executionId: string;
  /** How many artifacts it publishes, with those of the runs that it triggers. */
  outputs: number;
  /** Whether the execution need not wait behind others, as far as this process knows. */
  mayEnd(): boolean;
  /**
   * Stores the execution as completed, with its inputs, its outputs and everything that these trigger. `inputs`: the positions of
   * its inputs.
   */
  store(
    tx: Transaction,
    changes: CorrelationChanges,
    correlation: TrackedCorrelation,
    execution: { row: NewExecutionRow; inputs: readonly number[]; inlineContext: InlineContext },
  ): Promise<void>;
}
