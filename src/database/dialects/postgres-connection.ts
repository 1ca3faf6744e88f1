import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { ClientBase } from 'pg';

import type { DirectAdapter, SharedStatement } from '../prepared.js';
import type { Schema } from '../schema.js';
import { type DialectAdapter, POSTGRES } from './dialect.js';
import { type Answer, Batch, type Query } from './postgres-batch.js';
import { isOutdated } from './postgres-errors.js';
import { type MemberQueries, Members } from './postgres-members.js';
import { canJoin, type Combinations, type Statement, statementOf } from './postgres-statements.js';

type Send = (query: Query) => Promise<Answer>;

/** All connections share the compiled queries, because their text is the same on each. */
const COMPILED = {};

let generation = 0;

/** Prepares every statement again, under a new name, before its next use. */
export function prepareAnew(): void {
  generation += 1;
}

/**
 * Postgres does not accept NUL in text. Ids and search values never contain it, so such a search finds nothing; in
 * messages the replacement character takes its place.
 */
const storable = (parameters: readonly unknown[]): unknown[] =>
  parameters.map((value) =>
    typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value,
  );

const CHANGED_ROWS = /^(?:INSERT \d+|UPDATE|DELETE|MERGE) (\d+)$/;

const BEGIN: Query = { name: 'begin', text: 'begin', values: [] };
const COMMIT: Query = { name: 'commit', text: 'commit', values: [] };

interface Change {
  statement: Statement;
  values: unknown[];
}

/** Runs a prepared statement. */
type Run = (statement: Statement, values: unknown[]) => unknown[] | Promise<unknown[]>;

type Share = <Values, Row>(statement: SharedStatement<Values, Row>, values: Values) => Promise<Row[]>;

export type ColumnType = (table: string, column: string) => string;

class Adapter extends PostgresAdapter implements DirectAdapter, DialectAdapter {
  readonly starlingDialect = POSTGRES;
  readonly compiledFor = COMPILED;

  constructor(
    private readonly run: Run,
    readonly share?: Share,
    readonly columnType?: ColumnType,
  ) {
    super();
  }

  runDirectly(query: CompiledQuery, parameters: readonly unknown[]): unknown[] | Promise<unknown[]> {
    return this.run(statementOf(query), storable(parameters));
  }
}

const sendPrepared = async (send: Send, { name, text }: Statement, values: unknown[]): Promise<unknown[]> =>
  (await send({ name: `${name}.${generation}`, text, values })).rows;

class Connection implements DatabaseConnection {
  constructor(private readonly send: Send) {}

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<{ rows: Row[]; numAffectedRows?: bigint }> {
    const { rows, tag } = await this.send({ text: sql, values: storable(parameters) });
    const changed = CHANGED_ROWS.exec(tag);
    return { rows: rows as Row[], ...(changed && { numAffectedRows: BigInt(changed[1]!) }) };
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new Error('streaming queries is not supported');
  }
}

const refuse = (): Promise<never> => Promise.reject(new Error('only the unit of work may begin transactions'));

/**
 * Makes a Kysely instance that sends its queries with `send`. `run` runs the prepared ones. With `share`, those that can
 * be shared run with those of other members of a group.
 */
export function kyselyOver(
  send: Send,
  run: Run = (statement, values) => sendPrepared(send, statement, values),
  share?: Share,
  columnType?: ColumnType,
): Kysely<Schema> {
  const connection = new Connection(send);
  const driver: Driver = {
    init: () => Promise.resolve(),
    acquireConnection: () => Promise.resolve(connection),
    releaseConnection: () => Promise.resolve(),
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
    destroy: () => Promise.resolve(),
  };
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new Adapter(run, share, columnType),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

/**
 * A connection that runs one transaction at a time. Its queries are pipelined: a change without a result waits for the
 * next query and shares one statement with it, if it can. Its error surfaces with the next query that is waited for, at
 * the latest with the commit.
 */
export class TransactionConnection {
  readonly db: Kysely<Schema>;
  readonly members: Members;
  /** The first error of the transaction. Postgres refuses everything after it with a message that does not say why. */
  private failure: unknown = null;
  /** The queries of this turn. */
  private batch: Batch | null = null;
  /** Changes that are not sent yet. They can be combined. */
  private changes: Change[] = [];

  constructor(
    private readonly client: ClientBase,
    private readonly combinations: Combinations,
    columnType: ColumnType,
  ) {
    this.db = kyselyOver(
      (query) => this.sendNext(query),
      (statement, values) => this.run(statement, values),
      undefined,
      columnType,
    );
    this.members = new Members(this.db, (queries) => this.dbOfMember(queries));
  }

  /** `settings`: statements that hold for this transaction. */
  begin(settings: readonly Query[]): void {
    this.failure = null;
    this.changes = [];
    for (const query of [BEGIN, ...settings]) void this.send(query).catch(() => undefined);
  }

  /**
   * Rejects with the transaction's first error. Then nothing was written, unless the connection was lost, which may
   * mean that all of it was.
   */
  async commit(): Promise<void> {
    this.sendChanges();
    const { tag } = await this.send(COMMIT);
    // Postgres answers the commit of a failed transaction with a rollback.
    if (tag !== 'COMMIT') throw this.failure ?? new Error('the transaction failed');
  }

  /**
   * Rolls the transaction back and returns the error that it failed with. Rejects if the connection cannot be used any
   * more.
   */
  async rollback(error: unknown): Promise<unknown> {
    this.changes = [];
    this.submit();
    await this.client.query('rollback');
    return this.failure ?? error;
  }

  private dbOfMember({ alone, share }: MemberQueries): Kysely<Schema> {
    const sent = async (query: Query): Promise<[Answer]> => [await this.sendNext(query)];
    return kyselyOver(
      async (query) => (await (alone(() => sent(query), true) as ReturnType<typeof sent>))[0],
      (statement, values) => alone(async () => this.run(statement, values), statement.answers),
      share,
    );
  }

  private sendNext(query: Query): ReturnType<Send> {
    this.sendChanges();
    return this.send(query);
  }

  private run(statement: Statement, values: unknown[]): unknown[] | Promise<unknown[]> {
    const waiting = this.changes.map((change) => change.statement);
    if (!canJoin(waiting, statement)) this.sendChanges();
    this.changes.push({ statement, values });
    if (statement.answers) return this.sendTogether(this.changes.splice(0));
    if (!statement.change) this.sendChanges();
    return [];
  }

  private sendChanges(): void {
    if (this.changes.length > 0) void this.sendTogether(this.changes.splice(0)).catch(() => undefined);
  }

  /** Returns the rows that the last one answers. */
  private sendTogether(changes: readonly Change[]): Promise<unknown[]> {
    const together = changes.length > 1 ? this.combinations.of(changes.map(({ statement }) => statement)) : null;
    const sent = together ? [{ statement: together, values: changes.flatMap(({ values }) => values) }] : changes;
    const results = sent.map(({ statement, values }) => sendPrepared((query) => this.send(query), statement, values));
    for (const result of results.slice(0, -1)) void result.catch(() => undefined);
    return results.at(-1)!;
  }

  private async send(query: Query): Promise<Answer> {
    try {
      return await this.nextBatch().add(query);
    } catch (error) {
      if (isOutdated(error)) prepareAnew();
      this.failure ??= error;
      throw this.failure;
    }
  }

  private nextBatch(): Batch {
    if (!this.batch) {
      this.batch = new Batch(this.client);
      // Runs after the promises of this turn.
      process.nextTick(() => this.submit());
    }
    return this.batch;
  }

  private submit(): void {
    const { batch } = this;
    this.batch = null;
    batch?.submitAll();
  }
}
