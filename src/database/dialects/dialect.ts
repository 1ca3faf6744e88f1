import { type Expression, type Kysely, type RawBuilder, type SelectQueryBuilder, sql, type SqlBool } from 'kysely';

import { type Place, type Prepared, prepared } from '../prepared.js';
import type { Schema } from '../schema.js';

/** The differences between the databases, apart from connecting and committing. */
export interface Dialect {
  readonly name: 'sqlite' | 'postgres';
  /** True if transactions run at the same time, so that a row has to be locked to stay as it was read. */
  readonly locksRows: boolean;
  /** True if a search passes rows that were changed or deleted, as long as any session can still see them. */
  readonly keepsDeadRows: boolean;
  /** True if a cross join joins its tables in the order of the query. */
  readonly joinsAsWritten: boolean;
  /** The last position that a table has assigned, or 0. */
  lastPosition(table: keyof Schema): RawBuilder<number>;
  /**
   * Takes the next positions of a table, for rows that this transaction inserts. It must have inserted a row into the table
   * before: only then do readers wait for these positions (PostgresPositions).
   */
  takePositions(db: Kysely<Schema>, table: keyof Schema, count: number): Promise<number[]>;
  /** The next claim number, in increasing order. Null if only one process claims. */
  readonly nextClaim: RawBuilder<number | null>;
  /**
   * Whether this process and no other one is registered at a time (epoch ms). A process that can have no others need not
   * be registered. Both arguments are places in a prepared query.
   */
  isOnlyProcess(id: Expression<string>, now: Expression<number>): RawBuilder<SqlBool>;
}

export const SQLITE: Dialect = {
  name: 'sqlite',
  locksRows: false,
  keepsDeadRows: false,
  joinsAsWritten: true,
  lastPosition: (table) => sql`coalesce((select seq from sqlite_sequence where name = ${table}), 0)`,
  takePositions: async (db, table, count) => {
    const [taken] = await takeTogether(db, { table, count });
    return Array.from({ length: count }, (_, index) => taken!.seq - count + 1 + index);
  },
  nextClaim: sql.lit(null),
  isOnlyProcess: () => sql`true`,
};

export const POSTGRES: Dialect = {
  name: 'postgres',
  locksRows: true,
  keepsDeadRows: true,
  joinsAsWritten: false,
  lastPosition: (table) => sql`coalesce(pg_sequence_last_value(pg_get_serial_sequence(${table}, 'seq')::regclass), 0)`,
  takePositions: async (db, table, count) => (await takeEach(db, { table, count })).map(({ seq }) => seq),
  nextClaim: sql`nextval('execution_claims')`,
  // Null without any registration.
  isOnlyProcess: (id, now) =>
    sql`coalesce((select array_agg(id) from processes where seen_until > ${now}) = array[${id}], false)`,
};

interface Taking {
  table: keyof Schema;
  count: number;
}

/** SQLite: returns the last one. */
const takeTogether = prepared<Taking, { seq: number }>((db, place) =>
  db
    .updateTable('sqlite_sequence' as never)
    .set({ seq: sql`seq + ${place('count')}` } as never)
    .where('name' as never, '=', place('table') as never)
    .returning(sql<number>`seq`.as('seq')),
);

/** Postgres: other transactions may take positions in between. */
const takeEach = prepared<Taking, { seq: number }>((db, place) =>
  db
    .selectFrom(sql`generate_series(1, cast(${place('count')} as integer))`.as('taken'))
    .select(sql<number>`nextval(pg_get_serial_sequence(${place('table')}, 'seq'))`.as('seq')),
);

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
 * lock. Does nothing if transactions run one after another.
 */
export const keeping = <Tables extends keyof Schema, Row>(
  db: Kysely<Schema>,
  query: SelectQueryBuilder<Schema, Tables, Row>,
): SelectQueryBuilder<Schema, Tables, Row> => (dialectOf(db).locksRows ? query.forKeyShare() : query);

/**
 * Makes a query that locks the rows that it finds until the transaction ends, and is run for nothing else. Other
 * transactions wait. Does nothing if transactions run one after another.
 */
export function rowLock<Values>(
  build: (db: Kysely<Schema>, place: Place<Values>) => SelectQueryBuilder<Schema, keyof Schema, unknown>,
): (db: Kysely<Schema>, values: Values) => Promise<void> {
  const lock: Prepared<Values, unknown> = prepared((db, place) => locking(db, build(db, place), { wait: true }));
  return async (db, values) => {
    if (dialectOf(db).locksRows) await lock(db, values);
  };
}

type Locked = { wait: boolean; of?: keyof Schema };

/**
 * Locks the rows that a query finds until the transaction ends. `wait: false` skips rows that another transaction has
 * locked. `of` names the table to lock if the query joins several. Does nothing if transactions run one after another.
 */
export function locking<Tables extends keyof Schema, Row>(
  db: Kysely<Schema>,
  query: SelectQueryBuilder<Schema, Tables, Row>,
  { wait, of }: Locked,
): SelectQueryBuilder<Schema, Tables, Row> {
  if (!dialectOf(db).locksRows) return query;
  const locked = of === undefined ? query.forUpdate() : query.forUpdate(of as never);
  return wait ? locked : locked.skipLocked();
}
