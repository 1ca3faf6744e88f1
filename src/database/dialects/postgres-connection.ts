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

import type { DirectAdapter, SharedStatement } from '../prepared.js';
import type { Schema } from '../schema.js';
import { type DialectAdapter, POSTGRES } from './dialect.js';
import { isOutdated } from './postgres-errors.js';
import { type MemberQueries, Members } from './postgres-members.js';
import { canJoin, type Combinations, type Statement, statementOf } from './postgres-statements.js';

/** Sends one query. With `name` it is a prepared statement of the connection. */
type Send = (query: {
  text: string;
  name?: string;
  values: unknown[];
}) => Promise<QueryResult<Record<string, unknown>>>;

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

interface Change {
  statement: Statement;
  values: unknown[];
}

/** Runs a prepared statement. */
type Run = (statement: Statement, values: unknown[]) => unknown[] | Promise<unknown[]>;

type Share = <Values, Row>(statement: SharedStatement<Values, Row>, values: Values) => Promise<Row[]>;

class Adapter extends PostgresAdapter implements DirectAdapter, DialectAdapter {
  readonly starlingDialect = POSTGRES;
  readonly compiledFor = COMPILED;

  constructor(
    private readonly run: Run,
    readonly share?: Share,
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
 * Makes a Kysely instance that sends its queries with `send`. `run` runs the prepared ones. With `share`, those that can
 * be shared run with those of other members of a group.
 */
export function kyselyOver(
  send: Send,
  run: Run = (statement, values) => sendPrepared(send, statement, values),
  share?: Share,
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
      createAdapter: () => new Adapter(run, share),
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
  private gathering = false;
  /** Changes that are not sent yet. They can be combined. */
  private changes: Change[] = [];

  constructor(
    private readonly client: ClientBase,
    private readonly combinations: Combinations,
  ) {
    this.db = kyselyOver(
      (query) => this.sendNext(query),
      (statement, values) => this.run(statement, values),
    );
    this.members = new Members(this.db, (queries) => this.dbOfMember(queries));
  }

  /** `settings`: of this transaction, as SQL. */
  begin(settings: string): void {
    this.failure = null;
    this.changes = [];
    void this.send({ text: `begin${settings}`, values: [] }).catch(() => undefined);
  }

  /**
   * Rejects with the transaction's first error. Then nothing was written, unless the connection was lost, which may
   * mean that all of it was.
   */
  async commit(): Promise<void> {
    this.sendChanges();
    const { command } = await this.send({ text: 'commit', values: [] });
    // Postgres answers the commit of a failed transaction with a rollback.
    if (command !== 'COMMIT') throw this.failure ?? new Error('the transaction failed');
  }

  /**
   * Rolls the transaction back and returns the error that it failed with. Rejects if the connection cannot be used any
   * more.
   */
  async rollback(error: unknown): Promise<unknown> {
    this.changes = [];
    await this.client.query('rollback');
    return this.failure ?? error;
  }

  private dbOfMember({ alone, share }: MemberQueries): Kysely<Schema> {
    const sent = async (query: Parameters<Send>[0]): Promise<[QueryResult]> => [await this.sendNext(query)];
    return kyselyOver(
      async (query) => (await (alone(() => sent(query), true) as ReturnType<typeof sent>))[0],
      (statement, values) => alone(async () => this.run(statement, values), statement.answers),
      share,
    );
  }

  private sendNext(query: Parameters<Send>[0]): ReturnType<Send> {
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
