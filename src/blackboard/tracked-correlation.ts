import type { Selectable } from 'kysely';
import type { CorrelationsTable } from '../database/schema.js';

/** A correlation within a transaction; its counts are changed in place and written once, by `CorrelationChanges.save`. */
export type TrackedCorrelation = Selectable<CorrelationsTable>;
