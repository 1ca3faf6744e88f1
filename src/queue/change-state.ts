import type { Expression, QueryCreator, UpdateQueryBuilder, UpdateResult } from 'kysely';

import type { Schema } from '../database/schema.js';
import { isStateOf } from './state-predicate.js';
import { isAllowed, type SourceOf, type StateOf, type TableWithStates } from './transitions.js';

/**
 * Begins an update of rows that are in one of the states `from` and get the state `to`. The type of `state` allows no
 * other update of it, and the types here allow only what TRANSITIONS does. Throws a TypeError if a constant `to` may not
 * follow one of them.
 */
export function changeState<Table extends TableWithStates, To extends StateOf<Table>>(
  db: QueryCreator<Schema>,
  table: Table,
  from: readonly SourceOf<Table, NoInfer<To>>[],
  to: To | Expression<To>,
): UpdateQueryBuilder<Schema, Table, Table, UpdateResult> {
  const refused = typeof to === 'string' ? from.find((state) => !isAllowed(table, state, to)) : undefined;
  if (refused !== undefined) throw new TypeError(`${table} may not change from ${String(refused)} to ${String(to)}`);
  return db
    .updateTable(table as 'executions')
    .set({ state: to as never })
    .where(isStateOf(`${table}.state`, from as readonly never[])) as unknown as ReturnType<
    typeof changeState<Table, To>
  >;
}
