import { type RawBuilder, sql, type SqlBool } from 'kysely';

import type { DeliveryState, ExecutionState } from '../database/schema.js';

/**
 * The state of rows that are looked up by their ids. The expression prevents the use of a partial index on a state:
 * Postgres' planner considers such an index small, but it contains everything that ended while a session holds an old
 * snapshot.
 */
export const isInState = (state: ExecutionState | DeliveryState): RawBuilder<SqlBool> =>
  sql<SqlBool>`coalesce(state, '') = ${sql.lit(state)}`;
