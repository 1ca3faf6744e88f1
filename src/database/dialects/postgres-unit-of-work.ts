import type { Kysely } from 'kysely';
import type { PoolClient } from 'pg';

import type { Logger } from '../../common/logger.js';
import { random } from '../../common/random.js';
import { scheduler } from '../../common/scheduler.js';
import type { Telemetry } from '../../common/telemetry.js';
import { prepared } from '../prepared.js';
import type { Schema } from '../schema.js';
import { type PositionedTable, type Transaction, type TransactionOptions, UnitOfWork } from '../unit-of-work.js';
import { POSTGRES } from './dialect.js';
import { TransactionConnection } from './postgres-connection.js';
import type { PostgresDatabase } from './postgres-database.js';
import { asDomainError, isOutdated, wasGivenUp } from './postgres-errors.js';
import { findWriters, PostgresPositions } from './postgres-positions.js';

/** Tries of one transaction before its error is passed on. */
const MOST_TRIES = 10;
const LONGEST_PAUSE_MS = 50;
const LOOK_AT_WRITERS_MS = 5;

type Effect = () => void;

/** Runs transactions in parallel, each on a separate connection. Postgres groups their commits. */
export class PostgresUnitOfWork extends UnitOfWork {
  readonly reader: Kysely<Schema>;
  readonly dialect = POSTGRES;
  readonly isShared = true;
  readonly mayCommitUnnoticed = true;
  private readonly connections = new WeakMap<PoolClient, TransactionConnection>();
  private readonly open = new Set<Promise<unknown>>();
  private readonly positions = new Map<PositionedTable, PostgresPositions>();

  constructor(
    private readonly database: PostgresDatabase,
    private readonly logger: Logger,
    private readonly telemetry: Telemetry,
  ) {
    super();
    this.reader = database.reader;
    database.onLoss((error) => {
      logger.warn({ err: error }, 'a connection to the database was lost');
      this.positions.clear();
    });
  }

  run<T>(work: (tx: Transaction) => Promise<T>, how: TransactionOptions = {}): Promise<T> {
    const result = this.runUntilDecided(work, how);
    const settled = result.then(
      () => undefined,
      () => undefined,
    );
    this.open.add(settled);
    void settled.then(() => this.open.delete(settled));
    return result;
  }

  async inOrder<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
    for (const item of items) await work(item);
  }

  finalPosition(table: PositionedTable): Promise<number> {
    let positions = this.positions.get(table);
    if (!positions) this.positions.set(table, (positions = new PostgresPositions(this.reader, table)));
    return positions.final();
  }

  async writersEnded(table: PositionedTable): Promise<void> {
    let left = await findWriters(this.reader, table);
    while (left.length > 0) {
      await scheduler.pause(LOOK_AT_WRITERS_MS);
      const writers = new Set(await findWriters(this.reader, table));
      left = left.filter((writer) => writers.has(writer));
    }
  }

  async idle(): Promise<void> {
    while (this.open.size > 0) await Promise.all(this.open);
  }

  // Two transactions that wait for each other's rows are legitimate: Postgres ends one of them, and it runs again. The
  // same applies to a transaction that conflicts with the migration of a newer version.
  private async runUntilDecided<T>(work: (tx: Transaction) => Promise<T>, how: TransactionOptions): Promise<T> {
    const startedAt = scheduler.elapsed();
    for (let tries = 1; ; tries += 1) {
      try {
        const value = await this.runOnce(work, how);
        this.telemetry.transactionEnded(scheduler.elapsed() - startedAt);
        return value;
      } catch (error) {
        if (!(wasGivenUp(error) || isOutdated(error)) || tries === MOST_TRIES) throw asDomainError(error);
        await scheduler.pause(random.number() * LONGEST_PAUSE_MS);
      }
    }
  }

  private async runOnce<T>(
    work: (tx: Transaction) => Promise<T>,
    { relaxedDurability = false }: TransactionOptions,
  ): Promise<T> {
    const client = await this.database.transactions.connect();
    const connection = this.connectionOf(client);
    const effects: Effect[] = [];
    const answered: Promise<Effect>[] = [];
    const undone: ((isUnknown: boolean) => void)[] = [];
    let committing = false;
    const later = (effect: Effect): void => void effects.push(effect);
    let value: T;
    try {
      connection.begin(relaxedDurability);
      value = await work({
        db: connection.db,
        lock: (names) => lock(connection.db, names),
        whenVisible: later,
        afterCommit: later,
        withAnswer: (query, effect) => {
          const answer = query.then((value) => () => effect(value));
          // The commit rejects with its error.
          answer.catch(() => undefined);
          answered.push(answer);
        },
        whenUndone: (effect) => void undone.push(effect),
      });
      committing = true;
      await connection.commit();
      effects.push(...(await Promise.all(answered)));
    } catch (error) {
      const { cause, isRolledBack } = await this.undo(client, connection, error);
      undone.forEach((effect) => this.perform(() => effect(committing && !isRolledBack)));
      throw cause;
    }
    client.release();
    effects.forEach((effect) => this.perform(effect));
    return value;
  }

  private async undo(
    client: PoolClient,
    connection: TransactionConnection,
    error: unknown,
  ): Promise<{ cause: unknown; isRolledBack: boolean }> {
    try {
      const cause = await connection.rollback(error);
      client.release();
      return { cause, isRolledBack: true };
    } catch {
      // A connection that cannot roll back is broken. Postgres rolls the transaction back when it notices.
      client.release(true);
      return { cause: error, isRolledBack: false };
    }
  }

  private connectionOf(client: PoolClient): TransactionConnection {
    let connection = this.connections.get(client);
    if (!connection) {
      connection = new TransactionConnection(client);
      this.connections.set(client, connection);
    }
    return connection;
  }

  private perform(effect: Effect): void {
    try {
      effect();
    } catch (error) {
      this.logger.error({ err: error }, 'an effect after a transaction failed');
    }
  }
}

// Names are sorted, so that two transactions never wait for each other's names.
async function lock(db: Kysely<Schema>, names: readonly string[]): Promise<void> {
  const locks = [...new Set(names)].sort().map((name) => takeLock(db, { name }));
  await Promise.all(locks);
}

const takeLock = prepared<{ name: string }, unknown>((db, place) =>
  db.selectNoFrom(({ fn, lit }) =>
    fn('pg_advisory_xact_lock', [fn('hashtextextended', [place('name'), lit(0)])]).as('locked'),
  ),
);
