import { type Expression, type Kysely, type RawBuilder, type SelectQueryBuilder, sql, type SqlBool } from 'kysely';

import type { Schema } from '../schema.js';

/** The differences between the databases, apart from connecting and committing. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /**
   * True if only one process uses the database and its transactions run one after another. Then every lease of another
   * owner is dead, rows need no locks, and there are no other processes to notify.
   */
  readonly exclusive: boolean;
  /** True if a cross join joins its tables in the order of the query. */
  readonly joinsAsWritten: boolean;
  /** The last position that a table has assigned, or 0. */
  lastPosition(table: keyof Schema): RawBuilder<number>;
  /** The next claim number, in increasing order. Null if only one process claims. */
  readonly nextClaim: RawBuilder<number | null>;
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  exclusive: true,
  joinsAsWritten: true,
  lastPosition: (table) => sql`coalesce((select seq from sqlite_sequence where name = ${table}), 0)`,
  nextClaim: sql.lit(null),
};

export const POSTGRES: Dialect = {
  name: 'postgres',
  exclusive: false,
  joinsAsWritten: false,
  lastPosition: (table) => sql`coalesce(pg_sequence_last_value(pg_get_serial_sequence(${table}, 'seq')::regclass), 0)`,
  nextClaim: sql`nextval('execution_claims')`,
};

/** Kysely's adapters of both databases have this field. */
export interface DialectAdapter {
  readonly starlingDialect: Dialect;
}

export const dialectOf = (db: Kysely<Schema>): Dialect =>
  (db.getExecutor().adapter as object as DialectAdapter).starlingDialect;

/**
 * The condition that a column's value is among the results of a query, which runs first. Without statistics, Postgres
 * may otherwise run it again for every row.
 */
export function amongFound(db: Kysely<Schema>, column: string, values: Expression<unknown>): Expression<SqlBool> {
  const name = sql.ref(column);
  return dialectOf(db).joinsAsWritten
    ? sql<SqlBool>`${name} in ${values}`
    : sql<SqlBool>`${name} = any(array${values})`;
}

/** A text column that is compared by its bytes, as the indexes of lists sort it. Postgres may sort text by a language. */
export const inByteOrder = (db: Kysely<Schema>, column: string): RawBuilder<string> =>
  dialectOf(db).name === 'sqlite' ? sql<string>`${sql.ref(column)}` : sql<string>`${sql.ref(column)} collate "C"`;

/**
 * Locks the rows that a query finds against deletion until the transaction ends. Other transactions may take the same
 * lock. Does nothing if only one process uses the database.
 */
export const keeping = <Tables extends keyof Schema, Row>(
  db: Kysely<Schema>,
  query: SelectQueryBuilder<Schema, Tables, Row>,
): SelectQueryBuilder<Schema, Tables, Row> => (dialectOf(db).exclusive ? query : query.forKeyShare());

type Locked = { wait: boolean; of?: keyof Schema };

/**
 * Locks the rows that a query finds until the transaction ends. `wait: false` skips rows that another transaction has
 * locked. `of` names the table to lock if the query joins several. Does nothing if only one process uses the database.
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
