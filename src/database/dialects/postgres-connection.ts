import type { Writable } from 'node:stream';
import type { ClientBase, QueryResult } from 'pg';
import { type CompiledQuery, type DatabaseConnection, type Driver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely';
import type { DirectAdapter } from '../prepared.js';
import type { Schema } from '../schema.js';
import { type DialectAdapter, POSTGRES } from './dialect.js';
import { isOutdated } from './postgres-errors.js';

/** Sends one query; `name` makes it a prepared statement of the connection. */
type Send = (query: { text: string; name?: string; values: unknown[] }) => Promise<QueryResult<Record<string, unknown>>>;

/** One set of compiled queries for the process: their text is the same on every connection. */
const COMPILED = {};

interface Statement {
  name: string;
  /** False for a change that is asked for nothing back. */
  answers: boolean;
}

const statements = new WeakMap<CompiledQuery, Statement>();
let named = 0;
let generation = 0;

/** Prepares every statement again, under another name, before it is next used. */
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
 * Postgres takes no NUL in a text. Ids and whatever is looked for by its value never hold one, so that none is found; in a message
 * the sign for a character that cannot be shown stands for it.
 */
const storable = (parameters: readonly unknown[]): unknown[] =>
  parameters.map((value) => (typeof value === 'string' && value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value));

class Adapter extends PostgresAdapter implements DirectAdapter, DialectAdapter {
  readonly starlingDialect = POSTGRES;
  readonly compiledFor = COMPILED;

  constructor(
    private readonly send: Send,
    /** Takes what nobody waits for; null where every query is waited for. */
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
    throw new Error('queries are not streamed here');
  }
}

const refuse = (): Promise<never> => Promise.reject(new Error('transactions are begun by the unit of work alone'));

/** Kysely over whatever sends queries to Postgres. Changes that answer nothing go to `putOff` where that is given. */
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
 * A connection that runs transactions, one at a time. Its queries are pipelined: what a transaction asks for nothing back is
 * sent without waiting, and an error in it comes up with the next query that is waited for, at the latest with the commit.
 */
export class TransactionConnection {
  readonly db: Kysely<Schema>;
  /** The first error of the transaction; Postgres refuses everything after it, with a message that does not say why. */
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
    void this.send({ text: relaxedDurability ? 'begin; set local synchronous_commit to off' : 'begin', values: [] }).catch(() => undefined);
  }

  /** Rejects with the transaction's first error; then nothing of it is written, or, where the connection was lost, perhaps all. */
  async commit(): Promise<void> {
    const { command } = await this.send({ text: 'commit', values: [] });
    // Postgres answers the commit of a transaction that has failed with its rollback.
    if (command !== 'COMMIT') throw this.failure ?? new Error('the transaction had failed');
  }

  /** Undoes the transaction, and gives the error that it failed with. Rejects where the connection is of no more use. */
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

  /** What is sent in one turn goes out together: each write of its own would wake the server, and cost more than most queries. */
  private gather(): void {
    if (this.gathering) return;
    this.gathering = true;
    const { stream } = (this.client as unknown as { connection: { stream: Writable } }).connection;
    stream.cork();
    // After the promises of this turn.
    process.nextTick(() => {
      this.gathering = false;
      stream.uncork();
    });
  }
}
