import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';

import { pino } from 'pino';

import { Telemetry } from '../../src/common/telemetry.js';
import { SqliteDatabase } from '../../src/database/dialects/sqlite-database.js';
import { SqliteUnitOfWork } from '../../src/database/dialects/sqlite-unit-of-work.js';

/**
 * Database files of one test file and the connections that a test opened on them; `clear` closes and deletes all of
 * them.
 */
export class Files {
  private readonly folder = mkdtempSync(join(tmpdir(), 'starling-database-'));
  private readonly closings: (() => unknown)[] = [];
  private count = 0;

  /** Returns the path of a file that does not exist yet. */
  path(): string {
    return join(this.folder, `${++this.count}.db`);
  }

  open(path: string): SqliteDatabase {
    const database = SqliteDatabase.open(path);
    this.closings.push(() => database.connection.isOpen && database.close());
    return database;
  }

  /** Opens a connection that knows nothing of Starling and sees only the file. */
  look(path: string): DatabaseSync {
    const connection = new DatabaseSync(path, { readOnly: true });
    this.closings.push(() => connection.isOpen && connection.close());
    return connection;
  }

  async clear(): Promise<void> {
    for (const close of this.closings.reverse()) await close();
    rmSync(this.folder, { recursive: true });
  }
}

class CountingTelemetry extends Telemetry {
  transactions = 0;
  executionEnded(): void {}
  executionClaimed(): void {}
  deliveryTried(): void {}
  deliveriesGivenUp(): void {}
  predicateFailed(): void {}
  timerFailed(): void {}
  streamsOpen(): void {}
  modelUsed(): void {}
  transactionEnded(): void {
    this.transactions += 1;
  }
}

/** Returns a unit of work as the program makes it, with its reports recorded. */
export function unitOfWorkOn(database: SqliteDatabase): {
  unitOfWork: SqliteUnitOfWork;
  telemetry: CountingTelemetry;
  stops: string[];
} {
  const telemetry = new CountingTelemetry();
  const stops: string[] = [];
  const logger = pino({ level: process.env.STARLING_TEST_LOG ?? 'silent' });
  return {
    telemetry,
    stops,
    unitOfWork: new SqliteUnitOfWork(database, logger, telemetry, (reason) => stops.push(reason)),
  };
}
