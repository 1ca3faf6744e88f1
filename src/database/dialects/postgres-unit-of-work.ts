import type { Kysely } from 'kysely';
import type { PoolClient } from 'pg';

import type { Logger } from '../../common/logger.js';
import { random } from '../../common/random.js';
import { scheduler } from '../../common/scheduler.js';
import type { Telemetry } from '../../common/telemetry.js';
import type { Schema } from '../schema.js';
import { type PositionedTable, type TransactionOptions, UnitOfWork } from '../unit-of-work.js';
import { POSTGRES } from './dialect.js';
import type { Query } from './postgres-batch.js';
import { TransactionConnection } from './postgres-connection.js';
import type { PostgresDatabase } from './postgres-database.js';
import { asDomainError, isOutdated, wasGivenUp } from './postgres-errors.js';
import { PostgresGroups, type Work } from './postgres-groups.js';
import { Member, Undone } from './postgres-member.js';
import { findWriters, PostgresPositions } from './postgres-positions.js';
import { Combinations } from './postgres-statements.js';

/** Tries of one transaction before its error is passed on. */
const MOST_TRIES = 10;
const LONGEST_PAUSE_MS = 50;
const LOOK_AT_WRITERS_MS = 5;

const RELAXED = [{ name: 'relaxed', text: 'set local synchronous_commit to off', values: [] }];
/** Shorter than for a single transaction, because all of a group wait for a row that one of them needs. */
const IN_GROUP = [{ name: 'in_group', text: "set local lock_timeout to '500ms'", values: [] }];

type Effect = () => void;

/** Runs transactions in parallel, each on a separate connection. Postgres groups their commits. */
export class PostgresUnitOfWork extends UnitOfWork {
  readonly reader: Kysely<Schema>;
  readonly dialect = POSTGRES;
  readonly isShared = true;
  readonly mayCommitUnnoticed = true;
  private readonly connections = new WeakMap<PoolClient, TransactionConnection>();
  private readonly combinations = new Combinations();
  private readonly open = new Set<Promise<unknown>>();
  private readonly groups = new PostgresGroups(
    (work) => this.runUntilDecided(work, {}),
    (works) => this.runTogether(works),
  );
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

  run<T>(work: Work<T>, how: TransactionOptions = {}): Promise<T> {
    const result = how.group ? this.groups.run(work, how.group) : this.runUntilDecided(work, how);
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
  private async runUntilDecided<T>(work: Work<T>, how: TransactionOptions): Promise<T> {
    const startedAt = scheduler.elapsed();
    for (let tries = 1; ; tries += 1) {
      try {
        const [value] = (await this.runOnce([work], how.relaxedDurability ? RELAXED : [])) as [T];
        this.telemetry.transactionEnded(scheduler.elapsed() - startedAt);
        return value;
      } catch (error) {
        const { cause } = error as Undone;
        if (!(wasGivenUp(cause) || isOutdated(cause)) || tries === MOST_TRIES) throw asDomainError(cause);
        await scheduler.pause(random.number() * LONGEST_PAUSE_MS);
      }
    }
  }

  /** Returns null if nothing was written, so that each can run by itself. */
  private async runTogether(works: readonly Work<unknown>[]): Promise<unknown[] | null> {
    const startedAt = scheduler.elapsed();
    try {
      const values = await this.runOnce(works, IN_GROUP);
      works.forEach(() => this.telemetry.transactionEnded(scheduler.elapsed() - startedAt));
      return values;
    } catch (error) {
      const { cause, isRolledBack } = error as Undone;
      if (isRolledBack) {
        this.logger.debug({ err: cause }, 'a group of transactions failed, and each of them runs again by itself');
        return null;
      }
      throw asDomainError(cause);
    }
  }

  /** Runs them in one transaction. Rejects with Undone. */
  private async runOnce<T>(works: readonly Work<T>[], settings: readonly Query[]): Promise<T[]> {
    const client = await this.connect();
    const connection = this.connectionOf(client);
    const members = works.map((work) => new Member(work, connection));
    let committing = false;
    let values: T[];
    try {
      connection.begin(settings);
      const [first] = members as [Member<T>];
      values =
        members.length === 1
          ? [await first.run(connection.db)]
          : await connection.members.run(members.map((member) => (db) => member.runInGroup(db)));
      committing = true;
      await connection.commit();
      await Promise.all(members.map((member) => member.answersCame()));
    } catch (error) {
      const { cause, isRolledBack } = await this.undo(client, connection, error);
      const isUnknown = committing && !isRolledBack;
      members.forEach(({ undone }) => undone.forEach((effect) => this.perform(() => effect(isUnknown))));
      throw new Undone(cause, isRolledBack);
    }
    client.release();
    members.forEach(({ effects }) => effects.forEach((effect) => this.perform(effect)));
    return values;
  }

  private async connect(): Promise<PoolClient> {
    try {
      return await this.database.transactions.connect();
    } catch (error) {
      throw new Undone(error, false);
    }
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
      connection = new TransactionConnection(client, this.combinations, this.database.columnType);
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
