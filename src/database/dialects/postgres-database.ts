import { Kysely, PostgresDialect, sql } from 'kysely';
import pg from 'pg';

import { Database } from '../database.js';
import { migrate } from '../migrations/migrate.js';
import type { Schema } from '../schema.js';
import { StartError } from '../start-error.js';
import { POSTGRES } from './dialect.js';
import { type Answer, Batch, type Query } from './postgres-batch.js';
import { kyselyOver, prepareAnew } from './postgres-connection.js';
import { asDomainError, isOutdated, reasonOf } from './postgres-errors.js';
import { TYPES } from './postgres-types.js';

const OLDEST_VERSION = 15;

// With the listening connection they are fewer than a fifth of Postgres' default of 100 connections.
const TRANSACTIONS = 12;
const READS = 6;

const MIGRATION_LOCK = 7_827_546_891;

/**
 * Timeouts after which something counts as lost. Without them, a network partition would fill the process with waiting
 * work.
 */
const LIMITS = {
  connectionTimeoutMillis: 5_000,
  /** Time for an answer. */
  query_timeout: 12_000,
  /** Shorter, by the server's clock, so that the server stops work for which no client waits any more. */
  statement_timeout: 10_000,
  lock_timeout: 8_000,
  /** Bounds how long a process that was suspended during a transaction holds its locks. */
  idle_in_transaction_session_timeout: 10_000,
  keepAlive: true,
} as const;

// Every query has a fitting index. The planner lacks statistics for a table that was empty a minute ago: it would read
// the whole table as it grows, join a few of its rows by merging or hashing, or read all rows of a queue as a bitmap and
// sort them to find the first. JIT compilation takes longer than most of the queries.
const SESSION =
  '-c enable_seqscan=off -c enable_bitmapscan=off -c enable_mergejoin=off -c enable_hashjoin=off -c jit=off';

/** A Postgres database that several processes share. It has separate connections for transactions and for reads. */
export class PostgresDatabase extends Database {
  readonly dialect = POSTGRES;
  readonly reader: Kysely<Schema>;
  private readonly pools: readonly pg.Pool[];
  private columnTypes = new Map<string, string>();
  private closing: Promise<void> | undefined;

  private constructor(
    private readonly url: string,
    readonly transactions: pg.Pool,
    reads: pg.Pool,
  ) {
    super();
    this.pools = [transactions, reads];
    this.reader = kyselyOver(async (query) => {
      try {
        return await askOne(reads, query).catch((error: unknown) => {
          if (!isOutdated(error)) throw error;
          prepareAnew();
          return askOne(reads, { ...query, name: undefined });
        });
      } catch (error) {
        throw asDomainError(error);
      }
    });
  }

  /** Connects once to check that it works. Throws StartError if it does not. */
  static async open(url: string): Promise<PostgresDatabase> {
    await tryOut(new pg.Client({ connectionString: url, ...LIMITS }));
    return new PostgresDatabase(url, poolOf(url, TRANSACTIONS, true), poolOf(url, READS, false));
  }

  get location(): string {
    return withoutPassword(this.url);
  }

  /**
   * Migrates the schema to this version, in one process at a time. Throws StartError if a newer version has made it
   * incompatible.
   */
  async migrate(): Promise<void> {
    // A separate pool without timeouts, because an index on a large table may take a long time.
    const pool = new pg.Pool({ connectionString: this.url, application_name: 'starling', types: TYPES, max: 2 });
    pool.on('error', () => undefined);
    const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
    try {
      await db.connection().execute(async (holder) => {
        await sql`select pg_advisory_lock(${MIGRATION_LOCK})`.execute(holder);
        await migrate(db, POSTGRES);
      });
      this.columnTypes = await findColumnTypes(db);
    } catch (error) {
      throw error instanceof StartError
        ? error
        : new StartError(`database_url: cannot migrate ${this.location}: ${(error as Error).message}`);
    } finally {
      await db.destroy();
    }
  }

  /** The type of a column of this version's schema. */
  readonly columnType = (table: string, column: string): string => {
    const type = this.columnTypes.get(`${table}.${column}`);
    if (type === undefined) throw new Error(`the table ${table} has no column ${column}`);
    return type;
  };

  /** Returns the database's time in epoch ms. */
  async time(): Promise<number> {
    const { rows } = await sql<{ time: number }>`select extract(epoch from clock_timestamp()) * 1000 as time`.execute(
      this.reader,
    );
    return rows[0]!.time;
  }

  /** Reports lost idle connections. The next query replaces them. */
  onLoss(report: (error: Error) => void): void {
    for (const pool of this.pools) {
      pool.on('error', (error: Error & { client?: unknown }) => {
        // The pool attaches the whole client, which is useless in a log.
        delete error.client;
        report(error);
      });
    }
  }

  /** Returns a client outside of the pools, to listen on. */
  client(): pg.Client {
    return new pg.Client({
      connectionString: this.url,
      application_name: 'starling',
      types: TYPES,
      connectionTimeoutMillis: LIMITS.connectionTimeoutMillis,
      keepAlive: true,
    });
  }

  close(): Promise<void> {
    this.closing ??= Promise.all(this.pools.map((pool) => pool.end())).then(() => undefined);
    return this.closing;
  }
}

function poolOf(url: string, max: number, pipeline: boolean): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: 'starling',
    options: SESSION,
    ...LIMITS,
    types: TYPES,
    max,
    pipeline,
    idleTimeoutMillis: 60_000,
  });
  // The pool listens only to idle connections. A connection that breaks while it is handed out emits an error event,
  // which would end the process without a listener. Its user gets the error from the first query.
  return pool.on('connect', (client) => void client.on('error', () => undefined));
}

/** Returns the type of each column, under the name of its table and its own name. */
async function findColumnTypes(db: Kysely<Schema>): Promise<Map<string, string>> {
  const { rows } = await sql<{ name: string; type: string }>`
    select table_name || '.' || column_name as name, data_type as type from information_schema.columns
    where table_schema = current_schema()`.execute(db);
  return new Map(rows.map(({ name, type }) => [name, type]));
}

async function askOne(pool: pg.Pool, query: Query): Promise<Answer> {
  const client = await pool.connect();
  try {
    const batch = new Batch(client);
    const answer = batch.add(query);
    batch.submitAll();
    const rows = await answer;
    client.release();
    return rows;
  } catch (error) {
    // The answer may still come, for example after a timeout.
    client.release(true);
    throw error;
  }
}

async function tryOut(client: pg.Client): Promise<void> {
  // A connection that breaks emits an error event, which would end the process without a listener.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string }>("select current_setting('server_version_num') as version");
    const version = Math.floor(Number(rows[0]!.version) / 10_000);
    if (version < OLDEST_VERSION)
      throw new StartError(
        `database_url: the server is Postgres ${version}; starling needs ${OLDEST_VERSION} or later`,
      );
  } catch (error) {
    if (error instanceof StartError) throw error;
    const reason = reasonOf(error) ?? 'it refuses the connection';
    throw new StartError(
      `database_url: cannot use ${describe(client)}: ${reason} (${(error as Error).message || (error as { code?: string }).code})`,
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}

const describe = ({ database, host, port }: pg.Client): string => `the database ${database} at ${host}:${port}`;

export function withoutPassword(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}
