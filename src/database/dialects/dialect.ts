import type { ColumnDefinitionBuilder, Kysely, SelectQueryBuilder } from 'kysely';
import type { Schema } from '../schema.js';

/** In what the databases differ, apart from connecting and committing: the one table to read, or to extend. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /**
   * One process alone holds the database, and its transactions run one after another: every lease of another owner is dead,
   * rows need no locks, and nobody else has to be looked after.
   */
  readonly exclusive: boolean;
  /** Column type of a position that the database counts up. */
  readonly positionType: 'integer' | 'bigint';
  position(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder;
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  exclusive: true,
  // Only INTEGER PRIMARY KEY is the rowid itself; AUTOINCREMENT never gives a deleted position again.
  positionType: 'integer',
  position: (column) => column.primaryKey().autoIncrement(),
};

export const POSTGRES: Dialect = {
  name: 'postgres',
  exclusive: false,
  positionType: 'bigint',
  position: (column) => column.primaryKey().generatedByDefaultAsIdentity(),
};

/** What Kysely's adapters of both databases know of themselves. */
export interface DialectAdapter {
  readonly starlingDialect: Dialect;
}

export const dialectOf = (db: Kysely<Schema>): Dialect => (db.getExecutor().adapter as object as DialectAdapter).starlingDialect;

type Locked = { wait: boolean; of?: keyof Schema };

/**
 * Has a query lock the rows that it finds until the transaction ends. `wait: false` leaves out those that another transaction
 * holds. `of` names the table where the query joins several. Does nothing where one process alone holds the database.
 */
export function locking<Tables extends keyof Schema, Row>(
  db: Kysely<Schema>,
  query: SelectQueryBuilder<Schema, Tables, Row>,
  { wait, of }: Locked,
): SelectQueryBuilder<Schema, Tables, Row> {
  if (dialectOf(db).exclusive) return query;
  const locked = of === undefined ? query.forUpdate() : query.forUpdate(of as never);
  return wait ? locked : locked.skipLocked();
}
