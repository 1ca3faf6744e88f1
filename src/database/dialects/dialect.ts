import type { ColumnDefinitionBuilder } from 'kysely';

/** In what the databases differ, apart from connecting and committing: the one table to read, or to extend. */
export interface Dialect {
  readonly name: 'sqlite';
  /** One process alone holds the database: every lease of another owner is dead. */
  readonly exclusive: boolean;
  /** Column type of a position that the database counts up in commit order. */
  readonly positionType: 'integer';
  position(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder;
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  exclusive: true,
  // Only INTEGER PRIMARY KEY is the rowid itself; AUTOINCREMENT never gives a deleted position again.
  positionType: 'integer',
  position: (column) => column.primaryKey().autoIncrement(),
};
