import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';

import { POSTGRES, SQLITE } from '../../../src/database/dialects/dialect.js';
import { SqliteDatabase } from '../../../src/database/dialects/sqlite-database.js';
import { migrate } from '../../../src/database/migrations/migrate.js';
import type { NumberedMigration } from '../../../src/database/migrations/migration.js';
import type { Schema } from '../../../src/database/schema.js';

/** Migrates the database at this URL, which no process has open, by these migrations. Returns the names of those that ran. */
export async function migrateAt(url: string, migrations: readonly NumberedMigration[]): Promise<string[]> {
  if (TEST_DATABASE === 'sqlite') {
    const database = SqliteDatabase.open(url.slice('sqlite:'.length));
    return migrate(database.writer, SQLITE, migrations).finally(() => database.close());
  }
  const db = new Kysely<Schema>({
    dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: url, max: 2 }) }),
  });
  return migrate(db, POSTGRES, migrations).finally(() => db.destroy());
}
