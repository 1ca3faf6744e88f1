import { laterTurn } from '../../common/scheduler.js';
import type { Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import type { SchedulerLock } from '../processes/scheduler-locks.repository.js';

/** Rows per transaction of a cleanup. It bounds how long other writers wait. */
export const AT_ONCE = 100;

/**
 * The lock of every cleanup transaction, so that two processes never delete at the same time. Code that makes ended
 * work read artifacts again takes it too, and then checks that the artifacts still exist.
 */
export const DELETIONS = 'deletions';

/** A kind of data that is deleted when its retention time has passed. */
export interface Deletion {
  /** Name of the deleted data in the log. */
  readonly name: string;
  /** Deletes what is due, a few rows at a time, while `goesOn` returns true. Returns how many rows it deleted. */
  run(cleanup: Cleanup): Promise<number>;
}

/** A table whose rows are deleted some time after they ended. */
export interface EndedRows<Due> {
  /** Returns the next rows by `seq`: at most AT_ONCE, after this position. */
  next(after: number): Promise<{ seq: number; id: string; created_at: number }[]>;
  /** Returns those of the rows that may be deleted. It runs before a transaction is opened. */
  due(ids: readonly string[]): Promise<Due[]>;
  /** Deletes those rows that may still be deleted. Returns how many it deleted. */
  remove(tx: Transaction, due: readonly Due[]): Promise<number>;
}

/**
 * An answer is stored under its idempotency key shortly after the work has ended, and the key's retention time starts
 * only then.
 */
const STORING_MS = 60_000;

/** One pass over everything that may be due, measured at the time when the pass began. */
export class Cleanup {
  private lost = false;

  constructor(
    /** Epoch ms. */
    readonly now: number,
    private readonly keysMs: number,
    private readonly unitOfWork: UnitOfWork,
    private readonly lock: SchedulerLock,
    private readonly isStopped: () => boolean,
  ) {}

  /**
   * Data that ended at or before this time (epoch ms) has been kept for `retainMs`; null keeps it forever. The time is
   * also early enough that no idempotency key refers to the data any more: a repeated request would otherwise ask for
   * data that was deleted.
   */
  cutoff(retainMs: number | null): number | null {
    return retainMs === null ? null : Math.min(this.now - retainMs, this.settledBy);
  }

  /** No idempotency key refers to correlations that settled at or before this time (epoch ms). */
  get settledBy(): number {
    return this.now - this.keysMs - STORING_MS;
  }

  /**
   * Yields to the event loop, because reading alone blocks a process too. Returns false if this cleanup was stopped or
   * another process has taken it over.
   */
  async goesOn(): Promise<boolean> {
    await laterTurn();
    return !this.lost && !this.isStopped();
  }

  /** Deletes the due rows among those made at or before `cutoff`. Returns how many it deleted. */
  async deleteEnded<Due>(cutoff: number, rows: EndedRows<Due>): Promise<number> {
    let after = 0;
    let deleted = 0;
    while (await this.goesOn()) {
      // Rows are read in the order in which they were made, which is close to that in which they ended. An index on the
      // end would cost a write for each outcome.
      const some = await rows.next(after);
      const last = some.at(-1);
      if (!last) break;
      after = last.seq;
      const due = await rows.due(some.map(({ id }) => id));
      if (due.length > 0) deleted += await this.step((tx) => rows.remove(tx, due));
      // The loop does not stop at the first row that is too new, because the clocks of several machines differ.
      if (some.every(({ created_at }) => created_at > cutoff)) break;
    }
    return deleted;
  }

  /** Runs one small transaction. Does nothing and returns 0 if another process has taken the cleanup over. */
  async step(work: (tx: Transaction) => Promise<number>): Promise<number> {
    const deleted = await this.unitOfWork.run(async (tx) => {
      await tx.lock([DELETIONS]);
      return (await this.lock.renew(tx)) ? work(tx) : null;
    });
    this.lost ||= deleted === null;
    return deleted ?? 0;
  }
}
