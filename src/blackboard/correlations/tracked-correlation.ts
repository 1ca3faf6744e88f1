import type { Selectable } from 'kysely';
import type { CorrelationsTable } from '../../database/schema.js';

/** A correlation within a transaction; its counts are changed in place and written once, by `CorrelationChanges.save`. */
export type TrackedCorrelation = Selectable<CorrelationsTable>;

/** What of it is still there, as it is shown: retention may have deleted some. */
export const countsOf = (
  correlation: Pick<TrackedCorrelation, 'artifact_count' | 'error_count' | 'deleted_artifacts' | 'deleted_errors'>,
): { artifact_count: number; error_count: number } => ({
  artifact_count: correlation.artifact_count - correlation.deleted_artifacts,
  error_count: correlation.error_count - correlation.deleted_errors,
});
