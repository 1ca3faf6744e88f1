import { type RawBuilder, sql, type SqlBool } from 'kysely';

import type { DeliveryState, ExecutionState } from '../database/schema.js';

/**
 * Whether the state of rows that are looked up by their ids is one of these. The expression prevents the use of a partial index on a state:
 * Postgres' planner considers such an index small, but it contains everything that ended while a session holds an old
 * snapshot.
 */
export const isInState = (...states: (ExecutionState | DeliveryState)[]): RawBuilder<SqlBool> =>
  isStateOf('state', states);

/** `state`: the name of the column, with its table where a query has several columns of that name. */
export const isStateOf = (state: string, states: readonly (ExecutionState | DeliveryState)[]): RawBuilder<SqlBool> =>
  states.length === 1
    ? sql<SqlBool>`coalesce(${sql.ref(state)}, '') = ${sql.lit(states[0])}`
    : sql<SqlBool>`coalesce(${sql.ref(state)}, '') in (${sql.join(states.map((each) => sql.lit(each)))})`;
