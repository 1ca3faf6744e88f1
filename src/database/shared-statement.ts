import {
  type Compilable,
  type Insertable,
  type Kysely,
  type QueryCreator,
  type RawBuilder,
  sql,
  type UpdateQueryBuilder,
  type UpdateResult,
} from 'kysely';

import { type Dialect, dialectOf } from './dialects/dialect.js';
import { type DirectAdapter, type Prepared, prepared, preparedInsert, type SharedStatement } from './prepared.js';
import type { Schema } from './schema.js';

type Table = keyof Schema & string;
type Fields = Record<string, unknown>;

/** The rows of all runs, under the name `given`. Postgres reads them once, however often a statement refers to them. */
export type Given = RawBuilder<unknown>;

/** A column of any table, such as `executions.id`. */
type AnyColumn = { [Name in Table]: `${Name}.${keyof Schema[Name] & string}` }[Table];

/** The columns of `given`, which have the types that they have in the table, or in another one that they name. */
type Columns = {
  [Name in Table]: { table: Name; columns: readonly ((keyof Schema[Name] & string) | AnyColumn)[] };
}[Table];

/** How a statement runs once for several sets of values on Postgres. */
export type ManyForm<Values, Row> = Columns & {
  /** Returns a value for each of the columns. */
  rowOf(values: Values): object;
  /** The column that tells the rows apart. The rows of an answer have it too. */
  key: string;
  /** Whether several rows may have the same key. All of them get the same answer. */
  mayRepeat?: boolean;
  answers: boolean;
  addsRows: boolean;
  build(db: QueryCreator<Schema>, given: Given, dialect: Dialect): Compilable<Row>;
};

/** Returns a prepared statement that the members of a group run together. */
export function sharing<Values, Row>(
  one: Prepared<Values, Row>,
  { rowOf, key, mayRepeat = false, answers, addsRows, ...form }: ManyForm<Values, Row>,
): Prepared<Values, Row> {
  const run = preparedMany(form);
  const many = async (db: Kysely<Schema>, all: readonly Values[]): Promise<Row[][]> => {
    const rows = all.map(rowOf) as Fields[];
    const keys = rows.map((row) => String(row[key]));
    if (!mayRepeat && new Set(keys).size < keys.length) return Promise.all(all.map((values) => one(db, values)));
    const answer = Map.groupBy(await run(db, sorted(rows, key)), (row) => String((row as Fields)[key]));
    return keys.map((each) => answer.get(each) ?? []);
  };
  return shared({ answers, addsRows, one, many });
}

/**
 * Like `preparedInsert`. The members of a group insert their rows together, and `merged` may combine these rows into fewer.
 */
export function sharedInsert<Name extends Table, Column extends keyof Insertable<Schema[Name]> & string>(
  table: Name,
  columns: readonly Column[],
  merged = (rows: readonly Pick<Insertable<Schema[Name]>, Column>[]) => rows,
): (db: Kysely<Schema>, rows: readonly Pick<Insertable<Schema[Name]>, Column>[]) => Promise<void> {
  type Rows = readonly Pick<Insertable<Schema[Name]>, Column>[];
  const insert = preparedInsert(table, columns);
  const run = preparedMany({ table, columns, build: (db, given) => insertGiven(db, table, columns as never, given) });
  const one = async (db: Kysely<Schema>, rows: Rows): Promise<never[]> => {
    // A statement with few values can be combined with others.
    if (rows.length > 1 && dialectOf(db).name === 'postgres') await run(db, rows as readonly Fields[]);
    else await insert(db, rows);
    return [];
  };
  const many = async (db: Kysely<Schema>, all: readonly Rows[]): Promise<never[][]> => {
    await run(db, merged(all.flat()) as readonly Fields[]);
    return [];
  };
  const statement = shared({ answers: false, addsRows: true, onlyInserts: true, one, many });
  return async (db, rows) => {
    if (rows.length > 0) await statement(db, rows);
  };
}

/** A query without values. The members of a group ask once. */
export function sharedRead<Row>(read: Prepared<object, Row>): Prepared<object, Row> {
  const many = async (db: Kysely<Schema>, all: readonly object[]): Promise<Row[][]> => {
    const rows = await read(db, {});
    return all.map(() => rows);
  };
  return shared({ answers: true, addsRows: false, one: read, many });
}

/** A query that takes as many rows as the caller asks for. The members of a group ask once. */
export function sharedTake<Row>(
  take: (db: Kysely<Schema>, count: number) => Promise<Row[]>,
): Prepared<{ count: number }, Row> {
  const many = async (db: Kysely<Schema>, all: readonly { count: number }[]): Promise<Row[][]> => {
    const rows = await take(
      db,
      all.reduce((sum, { count }) => sum + count, 0),
    );
    return all.map(({ count }) => rows.splice(0, count));
  };
  return shared({ answers: true, addsRows: false, one: (db, { count }) => take(db, count), many });
}

/** An insert of these columns of `given`. */
export const insertGiven = <Name extends Table>(
  db: QueryCreator<Schema>,
  table: Name,
  columns: readonly (keyof Schema[Name] & string)[],
  given: Given,
) =>
  db
    .insertInto(table)
    .columns(columns)
    .expression(sql`select ${sql.join(columns.map((column) => sql.ref(`given.${column}`)))} from ${given}`);

interface GivenUpdate {
  table: Table;
  columns: readonly string[];
  given: Given;
  /** The columns that identify a row. */
  key?: readonly string[];
}

/** Continues an update: it sets these columns in the rows that are in `given`. */
export function updateGiven(update: object, { table, columns, given, key = ['id'] }: GivenUpdate) {
  const isSame = key.flatMap((column) => {
    const [own, other] = [sql.ref(`${table}.${column}`), sql.ref(`given.${column}`)];
    // For the first condition alone, Postgres may read the whole table: it makes the plan while the table is small, and
    // keeps it. For the second one, it looks up each key.
    return [sql`${own} = ${other}`, sql`${own} = any(array(select ${other} from ${given}))`];
  });
  return (update as UpdateQueryBuilder<Schema, 'executions', 'executions', UpdateResult>)
    .from(given as never)
    .set(Object.fromEntries(columns.map((column) => [column, sql.ref(`given.${column}`)])))
    .where(sql<boolean>`${sql.join(isSame, sql` and `)}`);
}

function shared<Values, Row>(statement: SharedStatement<Values, Row>): Prepared<Values, Row> {
  return (db, values) => {
    const adapter = db.getExecutor().adapter as object as DirectAdapter;
    return adapter.share ? adapter.share(statement, values) : statement.one(db, values);
  };
}

function preparedMany<Row>({
  table,
  columns,
  build,
}: Pick<ManyForm<unknown, Row>, 'build'> & { table: Table; columns: readonly string[] }): (
  db: Kysely<Schema>,
  rows: readonly Fields[],
) => Promise<Row[]> {
  const named = columns.map((column): [name: string, table: string] => {
    const [name, of = table] = column.split('.').reverse() as [string, string?];
    return [name, of];
  });
  const run = prepared<Record<string, string>, Row>((db, place) => {
    const { columnType } = db.getExecutor().adapter as object as DirectAdapter;
    // It sends one list for each column: Postgres would need twice the time to read JSON.
    const lists = named.map(([name, of]) => sql`cast(${place(name)} as ${sql.raw(columnType!(of, name))}[])`);
    const rows = sql`select * from unnest(${sql.join(lists)}) as given (${sql.join(named.map(([name]) => sql.ref(name)))})`;
    return build(
      db.with('given', () => sql<Fields>`(${rows})`),
      sql.table('given'),
      dialectOf(db),
    );
  });
  return (db, rows) => run(db, Object.fromEntries(named.map(([name]) => [name, listOf(rows, name)])));
}

/**
 * Rows are written in the order of their keys. Updates may lock them in another order, so their callers have locked the
 * correlations of the rows before.
 */
const sorted = (rows: readonly Fields[], key: string): Fields[] =>
  [...rows].sort((one, other) => (String(one[key]) < String(other[key]) ? -1 : 1));

/** The values of a column, in the form of a list of Postgres. */
const listOf = (rows: readonly Fields[], column: string): string =>
  `{${rows.map((row) => itemOf(row[column])).join(',')}}`;

function itemOf(value: unknown): string {
  if (value === null || value === undefined) return 'NULL';
  return typeof value === 'string' ? `"${value.replace(/["\\]/g, '\\$&')}"` : String(value);
}
