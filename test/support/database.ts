import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import pg from 'pg';
import { openDatabase } from '../../src/database/open-database.js';
import { queryOnce } from './postgres-cluster.js';

declare global {
  /** What the suite runs on this time; jest.config.js says it. */
  const TEST_DATABASE: 'sqlite' | 'postgres';
}

export interface TestDatabase {
  /** What `databaseUrl` and DATABASE_URL take. */
  url: string;
  /** Looks at what is committed, on a connection of its own that knows nothing of Starling. */
  rows<T extends object>(query: string): Promise<T[]>;
  drop(): Promise<void>;
}

/** The database that goes with a folder of a test: a new one the first time, and the same one from then on. */
export const databaseOf = (folder: string): Promise<TestDatabase> => (TEST_DATABASE === 'postgres' ? postgresOf(folder) : sqliteIn(folder));

async function sqliteIn(folder: string): Promise<TestDatabase> {
  const path = join(folder, 'starling.db');
  const rows = async <T>(query: string): Promise<T[]> => {
    const connection = new DatabaseSync(path, { readOnly: true });
    try {
      return connection.prepare(query).all().map((row) => ({ ...row }) as T);
    } finally {
      connection.close();
    }
  };
  // The file goes with the folder.
  return { url: `sqlite:${path}`, rows, drop: async () => undefined };
}

async function postgresOf(folder: string): Promise<TestDatabase> {
  const name = nameOf(createHash('sha1').update(folder).digest('hex').slice(0, 16));
  const template = await (migrated ??= migratedTemplate());
  await onServer((server) => server.query(`create database ${name} template ${template}`).catch(unlessThere));
  const url = urlOf(name);
  return {
    url,
    rows: (query) => queryOnce(url, query),
    drop: () => onServer(async (server) => void (await server.query(`drop database if exists ${name} with (force)`))),
  };
}

let migrated: Promise<string> | undefined;

/** A database with the whole schema and nothing in it: a copy of it costs a tenth of the migrations. One for all test files. */
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

async function onServer<T>(work: (server: pg.Client) => Promise<T>): Promise<T> {
  const server = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL });
  await server.connect();
  try {
    return await work(server);
  } finally {
    await server.end();
  }
}

const nameOf = (part: string): string => `${process.env.STARLING_TEST_RUN}_${part}`;

function urlOf(name: string): string {
  const url = new URL(process.env.TEST_DATABASE_URL!);
  url.pathname = name;
  return url.href;
}
