import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { LOGGER, type Logger } from '../common/logger.js';
import { Telemetry } from '../common/telemetry.js';
import { Settings } from '../config/settings.js';
import { SQLITE } from './dialects/dialect.js';
import { SqliteDatabase } from './dialects/sqlite-database.js';
import { SqliteUnitOfWork } from './dialects/sqlite-unit-of-work.js';
import { migrate } from './migrations/migrate.js';
import { StartError } from './start-error.js';
import { UnitOfWork } from './unit-of-work.js';

/** Opens and migrates the database that `databaseUrl` names. StartError where it cannot be had. */
export async function openDatabase(databaseUrl: string): Promise<SqliteDatabase> {
  const path = /^sqlite:(.+)$/.exec(databaseUrl)?.[1];
  if (!path || path.startsWith(':memory:')) {
    throw new StartError(`database_url: must be sqlite:<path of a file> (got "${databaseUrl.replace(/\/\/.*@/, '//***@')}")`);
  }
  const database = SqliteDatabase.open(path);
  try {
    await migrate(database.writer, SQLITE);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Closes the connections last of all: shutdown hooks before this one still write. */
@Injectable()
class DatabaseCloser implements OnApplicationShutdown {
  constructor(
    private readonly database: SqliteDatabase,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.unitOfWork.idle();
    await this.database.close();
  }
}

@Module({
  providers: [
    { provide: SqliteDatabase, useFactory: (settings: Settings) => openDatabase(settings.databaseUrl), inject: [Settings] },
    {
      provide: UnitOfWork,
      useFactory: (database: SqliteDatabase, logger: Logger, telemetry: Telemetry) =>
        new SqliteUnitOfWork(database, logger, telemetry, (reason, error) => {
          logger.fatal({ err: error }, `${reason}; stopping, and the next start sorts it out`);
          process.exit(70);
        }),
      inject: [SqliteDatabase, LOGGER, Telemetry],
    },
    DatabaseCloser,
  ],
  exports: [UnitOfWork],
})
export class DatabaseModule {}
