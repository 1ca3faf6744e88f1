import { existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { Kysely } from 'kysely';

import { Database } from '../database.js';
import type { Schema } from '../schema.js';
import { closeToOthers, folderWarnings, lockFileOf, makePrivate, sqliteFilesOf } from '../sqlite-files.js';
import { StartError } from '../start-error.js';
import { SQLITE } from './dialect.js';
import { NodeSqliteDialect } from './node-sqlite-dialect.js';
import { SQLITE_BUSY, sqliteCode, sqliteReason } from './sqlite-errors.js';

/** SQLite 3.51.3 fixes a bug in WAL mode that can corrupt a database during concurrent checkpoints. */
const OLDEST_SQLITE = [3, 51, 3] as const;

/**
 * Page cache of a connection in KiB, allocated as needed. Reads access the whole history, and a page that is not cached
 * costs several times as much. Writes access only the ends of a few trees.
 */
const READER_CACHE = 64_000;
const WRITER_CACHE = 4_000;

const NOT_A_DATABASE = 26;

/** An open SQLite file that only this process uses, with one writer and separate readers. */
export class SqliteDatabase extends Database {
  readonly dialect = SQLITE;
  private closing: Promise<void> | undefined;

  private constructor(
    readonly path: string,
    /** For the transactions' own statements. Everything else uses `writer`. */
    readonly connection: DatabaseSync,
    readonly writer: Kysely<Schema>,
    readonly reader: Kysely<Schema>,
    private readonly lock: DatabaseSync,
    warnings: readonly string[],
  ) {
    super(warnings);
  }

  get location(): string {
    return this.path;
  }

  /**
   * Opens the file `location`. It and its folders are created if missing, without access for other users. Throws
   * StartError if that fails.
   */
  static open(location: string): SqliteDatabase {
    refuseOldSqlite();
    const path = resolve(location);
    refuseFolder(path);
    makeFolder(path);
    const lock = takeLock(path);
    const connection = connect(path);
    const reading = connect(path, { readOnly: true });
    return new SqliteDatabase(
      path,
      connection,
      new Kysely<Schema>({ dialect: new NodeSqliteDialect(connection) }),
      new Kysely<Schema>({ dialect: new NodeSqliteDialect(reading) }),
      lock,
      [...closeToOthers(sqliteFilesOf(path)), ...folderWarnings(path)],
    );
  }

  close(): Promise<void> {
    this.closing ??= this.closeAll();
    return this.closing;
  }

  private async closeAll(): Promise<void> {
    await this.reader.destroy();
    await this.writer.destroy();
    this.lock.close();
  }
}

function refuseOldSqlite(): void {
  const version = process.versions.sqlite ?? '0.0.0';
  const parts = version.split('.').map(Number);
  const difference = OLDEST_SQLITE.map((oldest, index) => (parts[index] ?? 0) - oldest).find((part) => part !== 0) ?? 0;
  if (difference < 0) {
    throw new StartError(
      `SQLite ${version} has a bug that can corrupt the database; run Node.js 24.15 or later, which includes SQLite ${OLDEST_SQLITE.join('.')}`,
    );
  }
}

// SQLite would say only that it cannot open the file, and the lock file would stay next to the folder.
function refuseFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory())
    throw new StartError(`database_url: ${path} is a folder; name a file in it, such as sqlite:${path}/starling.db`);
}

function makeFolder(path: string): void {
  try {
    makeMissing(dirname(path));
  } catch (error) {
    throw new StartError(`database_url: cannot make the folder of ${path}: ${(error as Error).message}`);
  }
}

// Node's recursive `mkdirSync` loops forever if an existing folder, such as /proc, does not allow new ones in it.
function makeMissing(folder: string): void {
  if (existsSync(folder)) return;
  makeMissing(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    // Another process that is starting may have created it.
    if (!existsSync(folder)) throw error;
  }
}

// The lock is on a sibling file, because an exclusive lock on the database would exclude our own readers. The operating
// system releases it when the process ends, even by a crash.
function takeLock(path: string): DatabaseSync {
  const lock = openFile(lockFileOf(path));
  try {
    lock.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE');
    return lock;
  } catch (error) {
    lock.close();
    if (sqliteCode(error) !== SQLITE_BUSY) throw asStartError(path, error);
    throw new StartError(
      `database_url: ${path} is in use by another starling process; stop it, or choose another database with --database-url sqlite:<path>`,
    );
  }
}

function connect(path: string, options: { readOnly?: boolean } = {}): DatabaseSync {
  const database = openFile(path, options);
  try {
    // Waiting for another program's lock blocks the main thread, so the timeout is short and writers try again.
    database.exec('PRAGMA busy_timeout = 200; PRAGMA temp_store = MEMORY');
    database.exec(`PRAGMA cache_size = -${options.readOnly ? READER_CACHE : WRITER_CACHE}`);
    if (!options.readOnly)
      database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 2000');
    return database;
  } catch (error) {
    database.close();
    if ((error as { errcode?: number }).errcode === NOT_A_DATABASE) {
      throw new StartError(
        `database_url: ${path} is not a SQLite database; choose another file, which is created if it is missing`,
      );
    }
    throw asStartError(path, error);
  }
}

/** Returns a StartError for problems of the file and its disk, otherwise the same error. */
export function asStartError(path: string, error: unknown): unknown {
  const reason = sqliteReason(error);
  if (reason !== undefined) return new StartError(`database_url: ${path}: ${reason}, and start again`);
  return sqliteCode(error) === undefined
    ? error
    : new StartError(`database_url: cannot use ${path}: ${(error as Error).message}`);
}

function openFile(path: string, options: { readOnly?: boolean } = {}): DatabaseSync {
  try {
    makePrivate(path);
    return new DatabaseSync(path, options);
  } catch (error) {
    throw new StartError(`database_url: cannot open ${path}: ${(error as Error).message}`);
  }
}
