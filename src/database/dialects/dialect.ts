import { type ColumnDefinitionBuilder, type Expression, type Kysely, type RawBuilder, type SelectQueryBuilder, sql, type SqlBool } from 'kysely';
import type { Schema } from '../schema.js';

/** In what the databases differ, apart from connecting and committing: the one table to read, or to extend. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /**
   * One process alone holds the database, and its transactions run one after another: every lease of another owner is dead,
   * rows need no locks, and nobody else has to be looked after.
   */
  readonly exclusive: boolean;
  /** Joins tables in the order in which a cross join names them. */
  readonly joinsAsWritten: boolean;
  /** Column type of a position that the database counts up. */
  readonly positionType: 'integer' | 'bigint';
  position(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder;
  /** The last position that a table gave out; 0 where it gave none. */
  lastPosition(table: keyof Schema): RawBuilder<number>;
  /** The next number of a claim; they count up. Null where only one process claims. */
  readonly nextClaim: RawBuilder<number | null>;
  /** What a table needs whose rows change state often and are searched by it. */
  prepareForChurn(db: Kysely<unknown>, table: keyof Schema): Promise<void>;
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  exclusive: true,
  joinsAsWritten: true,
  // Only INTEGER PRIMARY KEY is the rowid itself; AUTOINCREMENT never gives a deleted position again.
  positionType: 'integer',
  position: (column) => column.primaryKey().autoIncrement(),
  lastPosition: (table) => sql`coalesce((select seq from sqlite_sequence where name = ${table}), 0)`,
  nextClaim: sql.lit(null),
  prepareForChurn: () => Promise.resolve(),
};

export const POSTGRES: Dialect = {
  name: 'postgres',
  exclusive: false,
  joinsAsWritten: false,
  positionType: 'bigint',
  position: (column) => column.primaryKey().generatedByDefaultAsIdentity(),
  lastPosition: (table) => sql`coalesce(pg_sequence_last_value(pg_get_serial_sequence(${table}, 'seq')::regclass), 0)`,
  nextClaim: sql`nextval('execution_claims')`,
  async prepareForChurn(db, table) {
    // Vacuumed after thousands of changes, not after a fifth of all the history has changed, and without pausing; analysed as
    // often, since a plan made for an empty table serves no full one.
    const settings = 'autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 5000, autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0';
    await sql`alter table ${sql.table(table)} set (${sql.raw(settings)})`.execute(db);
  },
};

/** What Kysely's adapters of both databases know of themselves. */
export interface DialectAdapter {
  readonly starlingDialect: Dialect;
}

export const dialectOf = (db: Kysely<Schema>): Dialect => (db.getExecutor().adapter as object as DialectAdapter).starlingDialect;

/**
 * That a column's value is among those that a query finds, which are found first. Without statistics, Postgres may find them anew for
 * every row that it looks at.
 */
export function amongFound(db: Kysely<Schema>, column: string, values: Expression<unknown>): Expression<SqlBool> {
  const name = sql.ref(column);
  return dialectOf(db).joinsAsWritten ? sql<SqlBool>`${name} in ${values}` : sql<SqlBool>`${name} = any(array${values})`;
}

/**
 * Has a query keep the rows that it finds from being deleted until the transaction ends; others may do the same. Does nothing where
 * one process alone holds the database.
 */
export const keeping = <Tables extends keyof Schema, Row>(
  db: Kysely<Schema>,
  query: SelectQueryBuilder<Schema, Tables, Row>,
): SelectQueryBuilder<Schema, Tables, Row> => (dialectOf(db).exclusive ? query : query.forKeyShare());

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
