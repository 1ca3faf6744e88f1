import type { Database } from './database.js';
import { POSTGRES, SQLITE } from './dialects/dialect.js';
import type { PostgresDatabase } from './dialects/postgres-database.js';
import { asStartError, SqliteDatabase } from './dialects/sqlite-database.js';
import { sqliteReason } from './dialects/sqlite-errors.js';
import { migrate } from './migrations/migrate.js';
import { StartError } from './start-error.js';

export const isPostgresUrl = (databaseUrl: string): boolean => /^postgres(ql)?:/.test(databaseUrl);

/** Returns the file that a SQLite URL names, or null for another database. */
export const sqlitePath = (databaseUrl: string): string | null => /^sqlite:(.+)$/.exec(databaseUrl)?.[1] ?? null;

/** A check of the class would load the driver of Postgres, which a start with SQLite does without. */
export const isPostgres = (database: Database): database is PostgresDatabase => database.dialect === POSTGRES;

/** Opens and migrates the database at `databaseUrl`. Throws StartError if that fails. */
export const openDatabase = (databaseUrl: string): Promise<Database> =>
  isPostgresUrl(databaseUrl) ? openPostgres(databaseUrl) : openSqlite(databaseUrl);

export async function openSqlite(databaseUrl: string): Promise<SqliteDatabase> {
  const path = sqlitePath(databaseUrl);
  if (!path || path.startsWith(':memory:')) {
    throw new StartError(
      `database_url: must be sqlite:<path of a file> or postgres://<user>@<host>/<database> (got "${databaseUrl.replace(/\/\/.*@/, '//***@')}")`,
    );
  }
  const database = SqliteDatabase.open(path);
  try {
    await migrate(database.writer, SQLITE);
    return database;
  } catch (error) {
    await database.close();
    // An invalid statement is a bug in a migration, so its error keeps its stack.
    throw sqliteReason(error) === undefined ? error : asStartError(database.path, error);
  }
}

async function openPostgres(databaseUrl: string): Promise<PostgresDatabase> {
  const { PostgresDatabase } = await import('./dialects/postgres-database.js');
  const database = await PostgresDatabase.open(databaseUrl);
  try {
    await database.migrate();
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
