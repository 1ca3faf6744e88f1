import { setImmediate } from 'node:timers/promises';
import type { Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import type { SchedulerLock } from './scheduler-locks.js';

/** Rows that one transaction of a cleanup looks at: the most that other writers wait for. */
export const AT_ONCE = 100;

/**
 * What every transaction of a cleanup holds: with it, no two processes delete at once. Whoever makes something that has ended read
 * artifacts again holds it too, and looks afterwards whether they are still there.
 */
export const DELETIONS = 'deletions';

/** Something that is deleted when it has been kept long enough. */
export interface Deletion {
  /** What is deleted, for the log. */
  readonly name: string;
  /** Deletes what is due, a few at a time, as long as the cleanup `goesOn`; how many that were. */
  run(cleanup: Cleanup): Promise<number>;
}

/** A table's rows, of which those are deleted that ended long enough ago. */
export interface EndedRows<Due> {
  /** The next ones, in the order of their making: at most AT_ONCE, behind this position. */
  next(after: number): Promise<{ seq: number; id: string; created_at: number }[]>;
  /** Those of them that may go, looked at before a transaction is asked for. */
  due(ids: readonly string[]): Promise<Due[]>;
  /** Deletes those that still may; how many that were. */
  remove(tx: Transaction, due: readonly Due[]): Promise<number>;
}

/** An answer is stored under its key after what it names has ended; its time begins only then. */
const STORING_MS = 60_000;

/** One pass over all that may have been kept long enough, as of the time at which it began. */
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
   * What ended at this time or before has been kept for `retainMs`; null keeps it for ever. No idempotency key names it any more: one
   * would be asked for the very thing that was deleted.
   */
  cutoff(retainMs: number | null): number | null {
    return retainMs === null ? null : Math.min(this.now - retainMs, this.settledBy);
  }

  /** Correlations that settled at this time or before, no idempotency key names any more. */
  get settledBy(): number {
    return this.now - this.keysMs - STORING_MS;
  }

  /** Lets others run: reading alone holds a process up too. False where it stops, or another one cleans up by now. */
  async goesOn(): Promise<boolean> {
    await setImmediate();
    return !this.lost && !this.isStopped();
  }

  /** Deletes what is due of rows that were made at `cutoff` or before; how many that were. */
  async deleteEnded<Due>(cutoff: number, rows: EndedRows<Due>): Promise<number> {
    let after = 0;
    let deleted = 0;
    while (await this.goesOn()) {
      // In the order of their making, which is nearly that of their ends: an index over these would be written to with every outcome.
      const some = await rows.next(after);
      const last = some.at(-1);
      if (!last) break;
      after = last.seq;
      const due = await rows.due(some.map(({ id }) => id));
      if (due.length > 0) deleted += await this.step((tx) => rows.remove(tx, due));
      // Not at the first that is too young: clocks of several machines differ.
      if (some.every(({ created_at }) => created_at > cutoff)) break;
    }
    return deleted;
  }

  /** One small transaction; 0, and nothing done, where the cleanup is over. */
  async step(work: (tx: Transaction) => Promise<number>): Promise<number> {
    const deleted = await this.unitOfWork.run(async (tx) => {
      await tx.lock([DELETIONS]);
      return (await this.lock.renew(tx)) ? work(tx) : null;
    });
    this.lost ||= deleted === null;
    return deleted ?? 0;
  }
}
