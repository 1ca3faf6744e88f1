import type { Selectable } from 'kysely';

import type { CorrelationsTable } from '../../database/schema.js';

export type CorrelationRow = Selectable<CorrelationsTable>;

/** A correlation, whether it has its number already or not. */
export type CorrelationFields = Omit<CorrelationRow, 'seq'>;

/** A correlation within a transaction. Code changes its counts in place; `CorrelationChanges.save` writes them once. */
export interface TrackedCorrelation extends CorrelationFields {
  /** The traceparent for work that this transaction adds. A correlation has one trace, even with many clients. */
  workTraceparent: string | null;
}

/** Whether a correlation repeats another one. */
export const isReplay = ({ origin }: Pick<CorrelationRow, 'origin'>): boolean => origin !== null;

/** The counts on the wire: without the artifacts that retention has deleted. */
export const countsOf = (
  correlation: Pick<TrackedCorrelation, 'artifact_count' | 'error_count' | 'deleted_artifacts' | 'deleted_errors'>,
): { artifact_count: number; error_count: number } => ({
  artifact_count: correlation.artifact_count - correlation.deleted_artifacts,
  error_count: correlation.error_count - correlation.deleted_errors,
});
