import { Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';

import { Clock } from '../common/clock.js';
import { LOGGER, type Logger } from '../common/logger.js';
import { Telemetry } from '../common/telemetry.js';
import { Settings } from '../config/settings.js';
import { Broadcast, NoBroadcast } from './broadcast.js';
import { Database } from './database.js';
import { DatabaseClock } from './dialects/database-clock.js';
import { PostgresBroadcast } from './dialects/postgres-broadcast.js';
import type { SqliteDatabase } from './dialects/sqlite-database.js';
import { SqliteUnitOfWork } from './dialects/sqlite-unit-of-work.js';
import { isPostgres, openDatabase } from './open-database.js';
import { UnitOfWork } from './unit-of-work.js';
import { Upkeep } from './upkeep.js';

/** The first reading includes the time to connect. */
const FIRST_READINGS = 3;

async function open(settings: Settings, clock: Clock, logger: Logger): Promise<Database> {
  const database = await openDatabase(settings.databaseUrl);
  for (const warning of database.warnings) logger.warn(warning);
  if (clock instanceof DatabaseClock && isPostgres(database)) {
    for (let readings = 0; readings < FIRST_READINGS; readings += 1) await clock.set(() => database.time());
  }
  return database;
}

async function unitOfWorkOn(database: Database, logger: Logger, telemetry: Telemetry): Promise<UnitOfWork> {
  if (isPostgres(database)) {
    const { PostgresUnitOfWork } = await import('./dialects/postgres-unit-of-work.js');
    return new PostgresUnitOfWork(database, logger, telemetry);
  }
  return new SqliteUnitOfWork(database as SqliteDatabase, logger, telemetry, (reason, error) => {
    logger.fatal({ err: error }, `${reason}; the process stops, and the next start recovers`);
    process.exit(70);
  });
}

async function broadcastOn(database: Database, logger: Logger): Promise<Broadcast> {
  if (!isPostgres(database)) return new NoBroadcast();
  const broadcast = new PostgresBroadcast(database, logger);
  await broadcast.open();
  return broadcast;
}

/** Closes the connections last: the shutdown hooks that run before it still write. */
@Injectable()
class DatabaseCloser implements OnApplicationShutdown {
  constructor(
    private readonly database: Database,
    private readonly unitOfWork: UnitOfWork,
    private readonly broadcast: Broadcast,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await this.unitOfWork.idle();
    await this.broadcast.close();
    await this.database.close();
  }
}

@Module({
  providers: [
    { provide: Database, useFactory: open, inject: [Settings, Clock, LOGGER] },
    { provide: UnitOfWork, useFactory: unitOfWorkOn, inject: [Database, LOGGER, Telemetry] },
    { provide: Broadcast, useFactory: broadcastOn, inject: [Database, LOGGER] },
    DatabaseCloser,
    Upkeep,
  ],
  exports: [Broadcast, UnitOfWork],
})
export class DatabaseModule {}
