import pg from 'pg';
import { Kysely, PostgresDialect, sql } from 'kysely';
import { migrate } from '../migrations/migrate.js';
import { Database } from '../database.js';
import type { Schema } from '../schema.js';
import { POSTGRES } from './dialect.js';
import { StartError } from '../start-error.js';
import { asDomainError, isOutdated, reasonOf } from './postgres-errors.js';
import { kyselyOver, prepareAnew } from './postgres-connection.js';

const OLDEST_VERSION = 15;

// Together with the one that listens, fewer than a fifth of the 100 connections that Postgres grants by default.
const TRANSACTIONS = 12;
const READS = 6;

const MIGRATION_LOCK = 7_827_546_891;

/** How long things may take before they count as lost; none waits for ever, or a partition would fill the process with waiters. */
const LIMITS = {
  connectionTimeoutMillis: 5_000,
  /** For an answer. */
  query_timeout: 12_000,
  /** The same by the server's clock, so that it does not go on with what nobody waits for. */
  statement_timeout: 10_000,
  lock_timeout: 8_000,
  /** A process that was stopped in the midst of a transaction holds its locks no longer than this. */
  idle_in_transaction_session_timeout: 10_000,
  keepAlive: true,
} as const;

// Every query of ours is made for an index. The planner has no statistics of a table that was empty a minute ago, and would keep
// reading it as a whole while it grows, also to join a few rows of it by merging or hashing; compiling a query to machine code
// takes longer than most of ours do.
const SESSION = '-c enable_seqscan=off -c enable_mergejoin=off -c enable_hashjoin=off -c jit=off';

// Counts and positions, and sums of them, are far below 2^53.
const NUMBERS = new Set<number>([pg.types.builtins.INT8, pg.types.builtins.NUMERIC]);

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    NUMBERS.has(oid) ? Number : pg.types.getTypeParser(oid, format as 'text')) as pg.CustomTypesConfig['getTypeParser'],
};

/** A Postgres database that this process shares with others: connections for transactions and, apart from them, for reads. */
export class PostgresDatabase extends Database {
  readonly reader: Kysely<Schema>;
  private readonly pools: readonly pg.Pool[];
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
        return await reads.query<Record<string, unknown>>(query).catch((error: unknown) => {
          if (!isOutdated(error)) throw error;
          prepareAnew();
          return reads.query<Record<string, unknown>>({ ...query, name: undefined });
        });
      } catch (error) {
        throw asDomainError(error);
      }
    });
  }

  /** Connects once, to see that it can be done. StartError where it cannot. */
  static async open(url: string): Promise<PostgresDatabase> {
    await tryOut(new pg.Client({ connectionString: url, ...LIMITS }));
    return new PostgresDatabase(url, poolOf(url, TRANSACTIONS, true), poolOf(url, READS, false));
  }

  get location(): string {
    return withoutPassword(this.url);
  }

  /** Brings the schema up to this program, one process at a time. StartError where a newer one has made it what this one must not touch. */
  async migrate(): Promise<void> {
    // Of its own, without time limits: an index over a large table takes as long as it takes.
    const pool = new pg.Pool({ connectionString: this.url, application_name: 'starling', types, max: 2 });
    pool.on('error', () => undefined);
    const db = new Kysely<Schema>({ dialect: new PostgresDialect({ pool }) });
    try {
      await db.connection().execute(async (holder) => {
        await sql`select pg_advisory_lock(${MIGRATION_LOCK})`.execute(holder);
        await migrate(db, POSTGRES);
      });
    } catch (error) {
      throw error instanceof StartError ? error : new StartError(`database_url: cannot migrate ${this.location}: ${(error as Error).message}`);
    } finally {
      await db.destroy();
    }
  }

  /** Epoch ms. */
  async time(): Promise<number> {
    const { rows } = await sql<{ time: number }>`select extract(epoch from clock_timestamp()) * 1000 as time`.execute(this.reader);
    return rows[0]!.time;
  }

  /** Reports when an idle connection is lost, which the next query mends. */
  onLoss(report: (error: Error) => void): void {
    for (const pool of this.pools) {
      pool.on('error', (error: Error & { client?: unknown }) => {
        // All of the connection, which the pool adds and a log has no use for.
        delete error.client;
        report(error);
      });
    }
  }

  /** A connection of its own, in no pool, to listen on. */
  client(): pg.Client {
    return new pg.Client({ connectionString: this.url, application_name: 'starling', types, connectionTimeoutMillis: LIMITS.connectionTimeoutMillis, keepAlive: true });
  }

  close(): Promise<void> {
    this.closing ??= Promise.all(this.pools.map((pool) => pool.end())).then(() => undefined);
    return this.closing;
  }
}

function poolOf(url: string, max: number, pipeline: boolean): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, application_name: 'starling', options: SESSION, ...LIMITS, types, max, pipeline, idleTimeoutMillis: 60_000 });
  // The pool itself listens to idle connections alone. One that breaks as it is handed out says so by an event that nobody would
  // hear, which ends the process; whoever got it learns of it from its first query.
  return pool.on('connect', (client) => void client.on('error', () => undefined));
}

async function tryOut(client: pg.Client): Promise<void> {
  // A connection that breaks says so by an event too, which would end the process where nobody listens.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ version: string }>("select current_setting('server_version_num') as version");
    const version = Math.floor(Number(rows[0]!.version) / 10_000);
    if (version < OLDEST_VERSION) throw new StartError(`database_url: the server is Postgres ${version}; starling needs ${OLDEST_VERSION} or later`);
  } catch (error) {
    if (error instanceof StartError) throw error;
    const reason = reasonOf(error) ?? 'it refuses';
    throw new StartError(`database_url: cannot use ${describe(client)}: ${reason} (${(error as Error).message || (error as { code?: string }).code})`);
  } finally {
    await client.end().catch(() => undefined);
  }
}

const describe = ({ database, host, port }: pg.Client): string => `the database ${database} at ${host}:${port}`;

export function withoutPassword(url: string): string {
  const { host, pathname } = new URL(url);
  return `postgres://${host}${pathname}`;
}
