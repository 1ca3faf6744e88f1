import { type Kysely, sql } from 'kysely';
import type { Dialect } from './dialects/dialect.js';
import type { Schema } from './schema.js';

/** An open transaction. Repositories take it as their first argument. */
export interface Transaction {
  readonly db: Kysely<Schema>;

  /**
   * Holds these names until the transaction ends; another one that asks for any of them waits. To be asked for before any row is
   * changed, or two transactions may wait for each other. Nothing to do where transactions run one after another.
   */
  lock(names: readonly string[]): Promise<void>;

  /**
   * Runs once later transactions of this process see these writes and can only commit together with or after them: at the
   * end of the closure on SQLite (so that a follow-up joins the same group commit), after the commit on Postgres. For
   * effects that queue further transactions.
   */
  whenVisible(effect: () => void): void;

  /** Runs after the commit. For effects that the world outside may see. Must not throw. */
  afterCommit(effect: () => void): void;
}

/** Reads outside of any transaction; sees what has been committed. */
export type Reader = Kysely<Schema>;

/** Tables whose rows get positions, and are read in their order while others write. */
export type PositionedTable = 'artifacts' | 'executions' | 'activity' | 'deliveries';

export interface TransactionOptions {
  /**
   * What it writes is simply written again where it is lost. It never is with a process, but may be with a crash of the database
   * itself: its commit is not waited for on the disk there. Whatever is committed after it is lost only together with it.
   */
  relaxedDurability?: boolean;
}

/** The only way to a transaction. */
export abstract class UnitOfWork {
  /**
   * Runs `work` in a transaction and resolves after its commit. Where `work` rejects, its writes are undone and the error
   * is passed on. `work` awaits nothing but queries of its own transaction. It may be run again, where the database gave the
   * transaction up because others were in its way: what it changes elsewhere belongs into an effect.
   * Rejects with a DomainError `unavailable` where the database cannot take writes now.
   */
  abstract run<T>(work: (tx: Transaction) => Promise<T>, how?: TransactionOptions): Promise<T>;

  abstract readonly reader: Reader;
  abstract readonly dialect: Dialect;

  /**
   * Up to which position no row of a table can still appear: who has read as far as that has missed none. One that was committed
   * a moment ago may lie behind it for a few milliseconds more.
   */
  abstract finalPosition(table: PositionedTable): Promise<number>;

  /** The last position that was given out, be it that its row was never committed or is deleted by now; 0 where none was. */
  async lastPosition(table: PositionedTable): Promise<number> {
    const { rows } = await sql<{ last: number }>`select ${this.dialect.lastPosition(table)} as last`.execute(this.reader);
    return rows[0]!.last;
  }

  /** Resolves when every transaction that was queued has ended. */
  abstract idle(): Promise<void>;
}
