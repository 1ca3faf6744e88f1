import { type Compilable, type CompiledQuery, type Insertable, type Kysely, type RawBuilder, sql } from 'kysely';

import type { Schema } from './schema.js';

/** Marks a place in a query that gets a new value for each run. */
class Placeholder<Values> {
  constructor(readonly pick: (values: Values) => unknown) {}
}

/** Returns the place for the value of that name. */
export type Place<Values> = <Name extends keyof Values>(name: Name) => RawBuilder<Values[Name]>;

export type Prepared<Values, Row> = (db: Kysely<Schema>, values: Values) => Promise<Row[]>;

/**
 * A query that is built and compiled once and then only run. On hot paths, building it with Kysely costs several times
 * what SQLite takes to run it.
 */
export const prepared = <Values, Row>(
  build: (db: Kysely<Schema>, place: Place<Values>) => Compilable<Row>,
): Prepared<Values, Row> => compileOnce((db) => build(db, (name) => holdPlace((values: Values) => values[name])));

/**
 * Like `prepared`, with a list. The list is filled up to a power of two by repeating its last item, because every
 * length needs a separate statement.
 */
export function preparedWithList<Values extends object, Item, Row>(
  build: (db: Kysely<Schema>, place: Place<Values>, items: RawBuilder<Item>[]) => Compilable<Row>,
): (db: Kysely<Schema>, values: Values, items: readonly Item[]) => Promise<Row[]> {
  const ofLength = memoize((length: number) =>
    prepared<Values & { items: readonly Item[] }, Row>((db, place) => build(db, place, placesOf<Item>(length))),
  );
  return async (db, values, items) => {
    if (items.length === 0) return [];
    const length = 2 ** Math.ceil(Math.log2(items.length));
    const filled = [...items, ...Array<Item>(length - items.length).fill(items.at(-1)!)];
    return ofLength(length)(db, { ...values, items: filled });
  };
}

// Rows per statement. More would come close to SQLite's limit on variables.
const MOST_ROWS = 64;
const FEW_ROWS = 4;

/**
 * Inserts rows of these columns. Above four, the number of rows per statement is a power of two, so that few statements
 * are prepared. `ifAbsent` skips rows that violate a unique index. `replaceBy` is a unique column: a row that has the same
 * value there gets the values of the new one. No two of the new rows may have the same.
 */
export function preparedInsert<
  Table extends keyof Schema & string,
  Column extends keyof Insertable<Schema[Table]> & string,
>(
  table: Table,
  columns: readonly Column[],
  { ifAbsent = false, replaceBy }: { ifAbsent?: boolean; replaceBy?: Column } = {},
): (db: Kysely<Schema>, rows: readonly Pick<Insertable<Schema[Table]>, Column>[]) => Promise<void> {
  type Rows = readonly Pick<Insertable<Schema[Table]>, Column>[];
  const ofSize = memoize((size: number) =>
    compileOnce<Rows, unknown>((db) => {
      const row = (index: number) =>
        Object.fromEntries(columns.map((column) => [column, holdPlace((rows: Rows) => rows[index]![column])]));
      const insert = db.insertInto(table).values(Array.from({ length: size }, (_, index) => row(index)) as never);
      if (ifAbsent) return insert.onConflict((conflict) => conflict.doNothing());
      if (replaceBy === undefined) return insert;
      const replaced = columns.filter((column) => column !== replaceBy);
      const values = Object.fromEntries(replaced.map((column) => [column, sql.ref(`excluded.${column}`)]));
      return insert.onConflict((conflict) => conflict.column(replaceBy as never).doUpdateSet(values as never));
    }),
  );
  return async (db, rows) => {
    const inserts: Promise<unknown>[] = [];
    for (let start = 0; start < rows.length;) {
      const rest = rows.length - start;
      const size = rest <= FEW_ROWS ? rest : Math.min(MOST_ROWS, 2 ** Math.floor(Math.log2(rest)));
      inserts.push(ofSize(size)(db, rows.slice(start, start + size)));
      start += size;
    }
    // Postgres gets them together, so a caller need not wait for them to send its next query after them.
    await Promise.all(inserts);
  };
}

/** Returns places for several values, for example of a row to insert. */
export const places = <Values, Name extends keyof Values & string>(place: Place<Values>, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, place(name)])) as { [N in Name]: RawBuilder<Values[N]> };

const holdPlace = <Values, Value>(pick: (values: Values) => Value): RawBuilder<Value> =>
  sql.val(new Placeholder(pick)) as never;

const placesOf = <Item>(length: number): RawBuilder<Item>[] =>
  Array.from({ length }, (_, index) => holdPlace(({ items }: { items: readonly Item[] }) => items[index]!));

function compileOnce<Values, Row>(build: (db: Kysely<Schema>) => Compilable<Row>): Prepared<Values, Row> {
  const compiled = new WeakMap<object, CompiledQuery<Row>>();
  return async (db, values) => {
    const adapter = db.getExecutor().adapter as object as DirectAdapter;
    let query = compiled.get(adapter.compiledFor);
    if (!query) compiled.set(adapter.compiledFor, (query = build(db).compile()));
    const parameters = query.parameters.map((value) => (value instanceof Placeholder ? value.pick(values) : value));
    return adapter.runDirectly(query, parameters) as Row[] | Promise<Row[]>;
  };
}

/** A prepared statement that can serve several sets of values in one run. */
export interface SharedStatement<Values, Row> {
  /** False for a change that returns nothing. */
  readonly answers: boolean;
  /** Whether it only inserts rows, so that one caller may use it several times in one run. */
  readonly addsRows: boolean;
  /** Whether it inserts values and reads no table, so that it does not matter when it runs among other such statements. */
  readonly onlyInserts?: boolean;
  readonly one: Prepared<Values, Row>;
  /** Runs it for all these values. Returns the rows of each. */
  many(db: Kysely<Schema>, all: readonly Values[]): Promise<Row[][]>;
}

/** The adapters of both databases can run a compiled query without Kysely's layers in between. */
export interface DirectAdapter {
  /** Set for a member of a group: runs the statement together with that of other members. */
  share?<Values, Row>(statement: SharedStatement<Values, Row>, values: Values): Promise<Row[]>;
  /** The type of a column on Postgres. */
  columnType?(table: string, column: string): string;
  /** Identifies the connections that share compiled queries. */
  readonly compiledFor: object;
  runDirectly(query: CompiledQuery, parameters: readonly unknown[]): unknown[] | Promise<unknown[]>;
}

export function memoize<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>();
  return (key) => {
    let value = made.get(key);
    if (value === undefined) made.set(key, (value = make(key)));
    return value;
  };
}
