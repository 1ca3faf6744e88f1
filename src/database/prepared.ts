import { type Compilable, type CompiledQuery, type Insertable, type Kysely, type RawBuilder, sql } from 'kysely';
import type { Schema } from './schema.js';

/** Stands in a query where each run puts a value of its own. */
class Placeholder<Values> {
  constructor(readonly pick: (values: Values) => unknown) {}
}

/** A place for the value of that name. */
export type Place<Values> = <Name extends keyof Values>(name: Name) => RawBuilder<Values[Name]>;

export type Prepared<Values, Row> = (db: Kysely<Schema>, values: Values) => Promise<Row[]>;

/**
 * A query that is built and compiled once and from then on only run: on the hot paths, building one with Kysely costs
 * several times what SQLite takes to answer it.
 */
export const prepared = <Values, Row>(build: (db: Kysely<Schema>, place: Place<Values>) => Compilable<Row>): Prepared<Values, Row> =>
  compileOnce((db) => build(db, (name) => holdPlace((values: Values) => values[name])));

/** The same with a list. Its length is evened out by repeating the last item, since every length is a statement of its own. */
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

// Rows in one statement; with more, SQLite's limit on variables would come near.
const MOST_ROWS = 64;

/** Inserts rows of these columns, in as few statements as powers of two allow, so that there are few to prepare. */
export function preparedInsert<Table extends keyof Schema & string, Column extends keyof Insertable<Schema[Table]> & string>(
  table: Table,
  columns: readonly Column[],
): (db: Kysely<Schema>, rows: readonly Pick<Insertable<Schema[Table]>, Column>[]) => Promise<void> {
  type Rows = readonly Pick<Insertable<Schema[Table]>, Column>[];
  const ofSize = memoize((size: number) =>
    compileOnce<Rows, unknown>((db) => {
      const row = (index: number) => Object.fromEntries(columns.map((column) => [column, holdPlace((rows: Rows) => rows[index]![column])]));
      return db.insertInto(table).values(Array.from({ length: size }, (_, index) => row(index)) as never);
    }),
  );
  return async (db, rows) => {
    for (let start = 0; start < rows.length; ) {
      const size = Math.min(MOST_ROWS, 2 ** Math.floor(Math.log2(rows.length - start)));
      await ofSize(size)(db, rows.slice(start, start + size));
      start += size;
    }
  };
}

/** Places for several values, for instance of a row that is written. */
export const places = <Values, Name extends keyof Values & string>(place: Place<Values>, names: readonly Name[]) =>
  Object.fromEntries(names.map((name) => [name, place(name)])) as { [N in Name]: RawBuilder<Values[N]> };

const holdPlace = <Values, Value>(pick: (values: Values) => Value): RawBuilder<Value> => sql.val(new Placeholder(pick)) as never;

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

/** What the adapters of both databases can do: run a compiled query without what Kysely puts between a query and its database. */
export interface DirectAdapter {
  /** What all connections to one database have in common: queries are compiled once for it. */
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
