import { type Kysely, sql } from 'kysely';

import type { Dialect } from './dialects/dialect.js';
import type { Schema } from './schema.js';

/** An open transaction. Repositories take it as their first argument. */
export interface Transaction {
  readonly db: Kysely<Schema>;

  /**
   * Locks these names until the transaction ends; other transactions that lock one of them wait. Call it before any row
   * is changed, or two transactions may deadlock. Does nothing if transactions run one after another.
   */
  lock(names: readonly string[]): Promise<void>;

  /**
   * Calls `work` for each item, with a transaction that is a part of this one. On Postgres they run at the same time and
   * share statements, so each must change different rows. Rejects with the first error.
   */
  each<Item, T>(items: readonly Item[], work: (tx: Transaction, item: Item) => Promise<T>): Promise<T[]>;

  /**
   * Runs when later transactions of this process see these writes and can only commit together with or after them. On
   * SQLite that is the end of the closure, so that a follow-up joins the same group commit; on Postgres it is after the
   * commit. For effects that start further transactions. On SQLite the transaction may still be rolled back and run
   * again, so an effect is only a hint: whatever it starts reads the database.
   */
  whenVisible(effect: () => void): void;

  /** Runs after the commit. For effects that are visible outside of the process. Must not throw. */
  afterCommit(effect: () => void): void;

  /**
   * Runs `effect` after the commit, with the answer of a query of this transaction that `work` does not wait for. On
   * Postgres the query then needs no round trip. If it fails, the transaction fails.
   */
  withAnswer<T>(query: Promise<T>, effect: (answer: T) => void): void;

  /**
   * Runs if this run of the transaction does not commit; the transaction may then run again. `isUnknown`: the connection
   * was lost during the commit, so the writes may be there. Must not throw.
   */
  whenUndone(effect: (isUnknown: boolean) => void): void;
}

/** Reads committed data outside of a transaction. */
export type Reader = Kysely<Schema>;

/** Tables whose rows have positions and are read in that order while others are written. */
export type PositionedTable = 'artifacts' | 'executions' | 'activity' | 'deliveries' | 'failure_changes';

export interface TransactionOptions {
  /**
   * For writes that are simply repeated if they are lost. The commit does not wait for the database's disk. A crash of
   * a process loses nothing, but a crash of the database may. Then everything committed later is lost too.
   */
  relaxedDurability?: boolean;
  /**
   * Lets Postgres run the transaction together with others of the same kind, in one transaction with shared statements.
   * If one of them fails, each runs again by itself. For transactions that lock no names, and lock the rows that others
   * may lock in the same order. Two with the same `key` never run together, because they change the same rows.
   */
  group?: { kind: string; key: string };
}

/** The only way to start a transaction. */
export abstract class UnitOfWork {
  /**
   * Runs `work` in a transaction and resolves after its commit. If `work` rejects, its writes are rolled back and the
   * error is passed on. `work` may await only queries of its transaction. It may run again if the database ended the
   * transaction because of a conflict, so every change outside the transaction belongs in an effect. Rejects with a
   * DomainError `unavailable` if the database cannot take writes now.
   */
  abstract run<T>(work: (tx: Transaction) => Promise<T>, how?: TransactionOptions): Promise<T>;

  abstract readonly reader: Reader;
  abstract readonly dialect: Dialect;

  /**
   * Whether other processes may use this database at the same time. Then signals of theirs may be lost, so a change must
   * also be looked for from time to time, and a lease of another owner is valid until it expires. Otherwise each lease
   * of another owner is dead.
   */
  abstract readonly isShared: boolean;

  /** Whether a transaction that has failed may have been committed, because its connection was lost at that moment. */
  abstract readonly mayCommitUnnoticed: boolean;

  /**
   * Calls `work` for each item, and its transactions run in the order of the items. `work` should run one transaction.
   * Rejects with the first error.
   */
  abstract inOrder<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void>;

  /**
   * The position up to which no row of a table can still appear: a reader that has read up to it has missed none. A row
   * that was just committed may be after it for a few milliseconds.
   */
  abstract finalPosition(table: PositionedTable): Promise<number>;

  /**
   * Resolves when all transactions that have written to the table and have not ended yet have ended. Transactions that
   * write to it later see everything that was committed before this call.
   */
  abstract writersEnded(table: PositionedTable): Promise<void>;

  /** The last assigned position, even if its row was never committed or has been deleted, or 0. */
  async lastPosition(table: PositionedTable): Promise<number> {
    const { rows } = await sql<{ last: number }>`select ${this.dialect.lastPosition(table)} as last`.execute(
      this.reader,
    );
    return rows[0]!.last;
  }

  /** Resolves when all queued transactions have ended. */
  abstract idle(): Promise<void>;
}
