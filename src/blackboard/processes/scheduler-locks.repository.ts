import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { prepared } from '../../database/prepared.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';

/** The largest difference between the clocks of two processes. */
const LARGEST_SKEW_MS = 2_000;

/**
 * Scheduled work that one process at a time does. All processes tick, and a conditional update decides which one works.
 * If that process ends during the work, the next one continues when the lock is due again.
 */
@Injectable()
export class SchedulerLocks {
  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Returns null if the lock is not due or another process has taken it. */
  async take(name: string, everyMs: number): Promise<SchedulerLock | null> {
    const now = this.clock.now();
    const [row] = await findLock(this.unitOfWork.reader, { name });
    if (!row || isHeld(row.due_at, now, everyMs)) return null;
    const taken = new SchedulerLock(name, everyMs, row.due_at, { clock: this.clock, unitOfWork: this.unitOfWork });
    return (await this.unitOfWork.run((tx) => taken.renew(tx))) ? taken : null;
  }
}

/** A lock that is due later than any process could set it now was taken before the clock was set back. It is due. */
const isHeld = (dueAt: number, now: number, everyMs: number): boolean =>
  dueAt > now && dueAt <= now + everyMs + LARGEST_SKEW_MS;

export class SchedulerLock {
  constructor(
    private readonly name: string,
    private readonly everyMs: number,
    private dueAt: number,
    private readonly services: { clock: Clock; unitOfWork: UnitOfWork },
  ) {}

  /** Makes the lock due again `everyMs` from now. Returns false if another process has taken it. */
  async renew(tx: Transaction): Promise<boolean> {
    const later = this.services.clock.now() + this.everyMs;
    // The value is always another one, so that of several processes that found the lock due only the first one takes it.
    const next = later === this.dueAt ? later + 1 : later;
    const moved = await moveLock(tx.db, { name: this.name, from: this.dueAt, to: next });
    if (moved.length === 0) return false;
    tx.afterCommit(() => (this.dueAt = next));
    return true;
  }

  /**
   * Renews the lock if half of its time has passed. Work that takes long between its transactions calls this. Otherwise
   * another process would begin the same work, and neither could store what it did. Returns false if another process has
   * taken it.
   */
  async keep(): Promise<boolean> {
    const { clock, unitOfWork } = this.services;
    if (this.dueAt - clock.now() > this.everyMs / 2) return true;
    return unitOfWork.run((tx) => this.renew(tx));
  }

  /** Makes the lock due, unless another process has taken it. Do not use the object afterwards. */
  async release(tx: Transaction): Promise<void> {
    await moveLock(tx.db, { name: this.name, from: this.dueAt, to: 0 });
  }
}

const findLock = prepared<{ name: string }, { due_at: number }>((db, place) =>
  db.selectFrom('scheduler_locks').select('due_at').where('name', '=', place('name')),
);

const moveLock = prepared<{ name: string; from: number; to: number }, { name: string }>((db, place) =>
  db
    .updateTable('scheduler_locks')
    .set({ due_at: place('to') })
    .where('name', '=', place('name'))
    .where('due_at', '=', place('from'))
    .returning('name'),
);
