import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import pg from 'pg';

import { openDatabase, openSqlite } from '../../src/database/open-database.js';
import { connected } from './postgres-cluster.js';

declare global {
  /** The database of this run of the suite; jest.config.js sets it. */
  const TEST_DATABASE: 'sqlite' | 'postgres';
}

export type Rows = <T extends object>(query: string) => Promise<T[]>;

export interface TestDatabase {
  /** The value of `databaseUrl` and DATABASE_URL. */
  url: string;
  /** Reads committed rows on a separate connection, without Starling's code. */
  rows: Rows;
  /** The same with several queries, all in one snapshot. */
  look<T>(work: (rows: Rows) => Promise<T>): Promise<T>;
  drop(): Promise<void>;
}

/** Returns the database of a test's folder: a new one the first time, and the same one from then on. */
export const databaseOf = (folder: string): Promise<TestDatabase> =>
  TEST_DATABASE === 'postgres' ? postgresOf(folder) : sqliteOf(folder);

/** Returns the SQL for a value in a JSON text's field, as text, for either database. */
export const jsonField = (column: string, field: string): string =>
  TEST_DATABASE === 'postgres' ? `(${column}::json ->> '${field}')` : `cast(${column} ->> '${field}' as text)`;

async function sqliteOf(folder: string): Promise<TestDatabase> {
  const path = join(folder, 'starling.db');
  mkdirSync(folder, { recursive: true });
  // The same mode as the service gives to its files.
  if (!existsSync(path)) writeFileSync(path, await migratedFile(), { mode: 0o600 });
  return sqliteIn(path);
}

function sqliteIn(path: string): TestDatabase {
  const look = async <T>(work: (rows: Rows) => Promise<T>): Promise<T> => {
    const connection = new DatabaseSync(path, { readOnly: true });
    try {
      connection.exec('begin');
      return await work(async <R>(query: string) =>
        connection
          .prepare(query)
          .all()
          .map((row) => ({ ...row }) as R),
      );
    } finally {
      connection.close();
    }
  };
  // The file is deleted with the folder.
  return { url: `sqlite:${path}`, look, rows: (query) => look((rows) => rows(query)), drop: async () => undefined };
}

/** The same without tables: a database that was never migrated. */
export const emptyDatabaseOf = async (folder: string): Promise<TestDatabase> =>
  TEST_DATABASE === 'postgres' ? postgresOf(folder, 'template0') : sqliteIn(join(folder, 'starling.db'));

async function postgresOf(folder: string, template?: string): Promise<TestDatabase> {
  const name = nameOf(createHash('sha1').update(folder).digest('hex').slice(0, 16));
  template ??= await migratedOnce();
  await onServer((server) => server.query(`create database ${name} template ${template}`).catch(unlessThere));
  const drop = (): Promise<void> =>
    onServer(async (server) => void (await server.query(`drop database if exists ${name} with (force)`)));
  return { ...databaseAt(urlOf(name)), drop };
}

/** Creates a database of a Postgres server that a suite has for itself; it is deleted with the server. */
export function databaseAt(url: string): TestDatabase {
  const look = <T>(work: (rows: Rows) => Promise<T>): Promise<T> =>
    connected(url, async (client) => {
      await client.query('begin isolation level repeatable read read only');
      return work(async <R extends object>(query: string) => (await client.query<R>(query)).rows);
    });
  return { url, look, rows: (query) => look((rows) => rows(query)), drop: async () => undefined };
}

let file: Buffer | undefined;

/** Returns a file with the whole schema and no rows. Writing a copy costs a tenth of the migrations. */
async function migratedFile(): Promise<Buffer> {
  if (file) return file;
  const folder = mkdtempSync(join(tmpdir(), 'starling-migrated-'));
  const path = join(folder, 'starling.db');
  await (await openSqlite(`sqlite:${path}`)).close();
  const connection = new DatabaseSync(path);
  connection.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  connection.close();
  file = readFileSync(path);
  rmSync(folder, { recursive: true });
  return file;
}

let migrated: Promise<string> | undefined;

function migratedOnce(): Promise<string> {
  migrated ??= migratedTemplate().catch((error: unknown) => {
    // The next suite tries again.
    migrated = undefined;
    throw error;
  });
  return migrated;
}

/**
 * Creates a database with the whole schema and no rows. A copy of it costs a tenth of the migrations. All test files
 * share it.
 */
async function migratedTemplate(): Promise<string> {
  const [template, unfinished] = [nameOf('template'), nameOf('unfinished')];
  await onServer(async (server) => {
    await server.query('select pg_advisory_lock(1)');
    const { rowCount } = await server.query('select 1 from pg_database where datname = $1', [template]);
    if (rowCount) return;
    await server.query(`drop database if exists ${unfinished} with (force)`);
    await server.query(`create database ${unfinished}`);
    await (await openDatabase(urlOf(unfinished))).close();
    await server.query(`alter database ${unfinished} rename to ${template}`);
  });
  return template;
}

/** An application that was started again, or a second one beside it. */
function unlessThere(error: unknown): void {
  const DUPLICATE_DATABASE = '42P04';
  if (!(error instanceof pg.DatabaseError && error.code === DUPLICATE_DATABASE)) throw error;
}

const onServer = <T>(work: (server: pg.Client) => Promise<T>): Promise<T> =>
  connected(process.env.TEST_DATABASE_URL!, work);

const nameOf = (part: string): string => `${process.env.STARLING_TEST_RUN}_${part}`;

function urlOf(name: string): string {
  const url = new URL(process.env.TEST_DATABASE_URL!);
  url.pathname = name;
  return url.href;
}
