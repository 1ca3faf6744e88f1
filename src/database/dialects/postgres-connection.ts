import type { Writable } from 'node:stream';

import {
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
} from 'kysely';
import type { ClientBase, QueryResult } from 'pg';

import type { DirectAdapter } from '../prepared.js';
import type { Schema } from '../schema.js';
import { type DialectAdapter, POSTGRES } from './dialect.js';
import { isOutdated } from './postgres-errors.js';

/** Sends one query. With `name` it is a prepared statement of the connection. */
type Send = (query: {
  text: string;
  name?: string;
  values: unknown[];
}) => Promise<QueryResult<Record<string, unknown>>>;

/** All connections share the compiled queries, because their text is the same on each. */
const COMPILED = {};

interface Statement {
  name: string;
  /** False for a change without a `returning` clause. */
  answers: boolean;
}

const statements = new WeakMap<CompiledQuery, Statement>();
let named = 0;
let generation = 0;

/** Prepares every statement again, under a new name, before its next use. */
export function prepareAnew(): void {
  generation += 1;
}

function statementOf(query: CompiledQuery): Statement {
  let statement = statements.get(query);
  if (!statement) statements.set(query, (statement = { name: `q${(named += 1)}`, answers: answersRows(query) }));
  return statement;
}

function answersRows({ query }: CompiledQuery): boolean {
  const { kind } = query;
  const isChange = kind === 'InsertQueryNode' || kind === 'UpdateQueryNode' || kind === 'DeleteQueryNode';
  return !isChange || query.returning !== undefined;
}

/**
 * Postgres does not accept NUL in text. Ids and search values never contain it, so such a search finds nothing; in
 * messages the replacement character takes its place.
 */
const storable = (parameters: readonly unknown[]): unknown[] =>
  parameters.map((value) =>
    typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value,
  );

class Adapter extends PostgresAdapter implements DirectAdapter, DialectAdapter {
  readonly starlingDialect = POSTGRES;
  readonly compiledFor = COMPILED;

  constructor(
    private readonly send: Send,
    /** Takes the results that no caller waits for. Null if every query is waited for. */
    private readonly putOff: ((sent: Promise<unknown>) => void) | null,
  ) {
    super();
  }

  runDirectly(query: CompiledQuery, parameters: readonly unknown[]): unknown[] | Promise<unknown[]> {
    const { name, answers } = statementOf(query);
    const sent = this.send({ name: `${name}.${generation}`, text: query.sql, values: storable(parameters) });
    if (answers || !this.putOff) return sent.then(({ rows }) => rows);
    this.putOff(sent);
    return [];
  }
}

class Connection implements DatabaseConnection {
  constructor(private readonly send: Send) {}

  async executeQuery<Row>({ sql, parameters }: CompiledQuery): Promise<{ rows: Row[]; numAffectedRows?: bigint }> {
    const { rows, rowCount, command } = await this.send({ text: sql, values: storable(parameters) });
    const changed = ['INSERT', 'UPDATE', 'DELETE', 'MERGE'].includes(command);
    return { rows: rows as Row[], ...(changed && { numAffectedRows: BigInt(rowCount ?? 0) }) };
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new Error('streaming queries is not supported');
  }
}

const refuse = (): Promise<never> => Promise.reject(new Error('only the unit of work may begin transactions'));

/**
 * Makes a Kysely instance that sends its queries with `send`. Changes without a result go to `putOff`, if it is set.
 */
export function kyselyOver(send: Send, putOff: ((sent: Promise<unknown>) => void) | null = null): Kysely<Schema> {
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
      createAdapter: () => new Adapter(send, putOff),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
}

/**
 * A connection that runs one transaction at a time. Its queries are pipelined: changes without a result are sent
 * without waiting. An error in one of them surfaces with the next query that is waited for, at the latest with the
 * commit.
 */
export class TransactionConnection {
  readonly db: Kysely<Schema>;
  /** The first error of the transaction. Postgres refuses everything after it with a message that does not say why. */
  private failure: unknown = null;
  private gathering = false;

  constructor(private readonly client: ClientBase) {
    this.db = kyselyOver(
      (query) => this.send(query),
      (sent) => void sent.catch(() => undefined),
    );
  }

  /** `relaxedDurability`: see TransactionOptions. */
  begin(relaxedDurability: boolean): void {
    this.failure = null;
    void this.send({
      text: relaxedDurability ? 'begin; set local synchronous_commit to off' : 'begin',
      values: [],
    }).catch(() => undefined);
  }

  /**
   * Rejects with the transaction's first error. Then nothing was written, unless the connection was lost, which may
   * mean that all of it was.
   */
  async commit(): Promise<void> {
    const { command } = await this.send({ text: 'commit', values: [] });
    // Postgres answers the commit of a failed transaction with a rollback.
    if (command !== 'COMMIT') throw this.failure ?? new Error('the transaction failed');
  }

  /**
   * Rolls the transaction back and returns the error that it failed with. Rejects if the connection cannot be used any
   * more.
   */
  async rollback(error: unknown): Promise<unknown> {
    await this.client.query('rollback');
    return this.failure ?? error;
  }

  private async send(query: Parameters<Send>[0]): ReturnType<Send> {
    this.gather();
    try {
      return await this.client.query<Record<string, unknown>>(query);
    } catch (error) {
      if (isOutdated(error)) prepareAnew();
      this.failure ??= error;
      throw this.failure;
    }
  }

  /**
   * Sends all queries of one turn of the event loop together: each separate write would wake the server, which costs
   * more than most queries.
   */
  private gather(): void {
    if (this.gathering) return;
    this.gathering = true;
    const { stream } = (this.client as unknown as { connection: { stream: Writable } }).connection;
    stream.cork();
    // Runs after the promises of this turn.
    process.nextTick(() => {
      this.gathering = false;
      stream.uncork();
    });
  }
}
