import { type RawBuilder, sql, type SqlBool } from 'kysely';
import type { DeliveryState, ExecutionState } from '../database/schema.js';

/**
 * The state of rows that are found by their ids. Written so that no partial index over a state serves it: those look small to
 * Postgres' planner, and hold all that has ended since while some session keeps an old snapshot.
 */
export const isInState = (state: ExecutionState | DeliveryState): RawBuilder<SqlBool> => sql<SqlBool>`coalesce(state, '') = ${sql.lit(state)}`;
