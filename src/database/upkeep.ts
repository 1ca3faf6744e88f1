import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { BackgroundLoop } from '../common/background-loop.js';
import { Clock } from '../common/clock.js';
import { isUnavailable } from '../common/domain-error.js';
import { LOGGER, type Logger } from '../common/logger.js';
import { Database } from './database.js';
import { DatabaseClock } from './dialects/database-clock.js';
import { refuseNewerSchema } from './migrations/migrate.js';
import { isPostgres } from './open-database.js';
import { StartError } from './start-error.js';

const EVERY_MS = 5_000;

/**
 * Regular checks of a process that shares its database: it reads the database's clock and checks that it may still use
 * the schema.
 */
@Injectable()
export class Upkeep {
  private readonly work: BackgroundLoop;

  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const failure = 'the regular check of the database failed';
    this.work = new BackgroundLoop(() => this.check(), { clock, logger, failure });
  }

  @Interval(EVERY_MS)
  run(): Promise<void> {
    return this.work.run();
  }

  private async check(): Promise<void> {
    const { database, clock } = this;
    if (!isPostgres(database)) return;
    try {
      if (clock instanceof DatabaseClock) await clock.set(() => database.time());
      await refuseNewerSchema(database.reader);
    } catch (error) {
      if (error instanceof StartError) return this.end(error);
      // Other users of the database report this too, and readiness shows it.
      if (!isUnavailable(error)) throw error;
    }
  }

  /**
   * Ends the process like an operator would: running work gets its grace period, and newer processes take over the
   * rest.
   */
  private end({ message }: StartError): void {
    this.logger.fatal(`${message}; stopping`);
    process.kill(process.pid, 'SIGTERM');
  }
}
