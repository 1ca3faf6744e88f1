import type { CorrelationState, CorrelationTermKind } from '../../database/schema.js';

/** A property by which lists find a correlation: its state, or a row of `correlation_terms`. */
export type Term = { kind: 'state'; value: CorrelationState } | { kind: CorrelationTermKind; value: string };

/** The conditions of a list of correlations. All must hold. Null sets no condition. */
export interface CorrelationFilter {
  terms: readonly Term[];
  /** The earliest start (epoch ms), inclusive. */
  from: number | null;
  /** The latest start (epoch ms), inclusive. */
  to: number | null;
  idPrefix: string | null;
  /** Whether to include replays. */
  replays: boolean;
  reached: Reached;
}

/**
 * The positions up to which the rollups of terms have read artifacts and executions. They are read before a list, because
 * Postgres' planner needs to know that few rows come after them; what the rollups add meanwhile is found twice.
 */
export interface Reached {
  artifacts: number;
  executions: number;
}

/** A correlation in the order of lists: by its start, then by its number. */
export interface Place {
  started_at: number;
  seq: number;
}

/** True if `one` comes before `other` in a list, which begins with the newest correlation. */
export const isBefore = (one: Place, other: Place): boolean =>
  one.started_at > other.started_at || (one.started_at === other.started_at && one.seq > other.seq);
