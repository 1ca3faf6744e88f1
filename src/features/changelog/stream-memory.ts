import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { MemoryBudget, type MemoryReservation } from '../../common/memory-budget.js';

/** Share of the memory budget for the backlogs of all readers. Requests need the rest. */
const SHARE_OF_BUDGET = 1 / 4;

/**
 * Smaller backlogs are not counted, so that their readers continue when memory is short. Node keeps about as much
 * anyway.
 */
const SMALL = 16 * 1_024;

/**
 * Counts the backlogs of streams towards the memory budget. When they exceed their share, the reader with the largest
 * product of bytes and time is disconnected.
 */
@Injectable()
export class StreamMemory {
  private readonly behind = new Set<StreamBacklog>();
  private bytes = 0;

  constructor(
    private readonly budget: MemoryBudget,
    private readonly clock: Clock,
  ) {}

  /** Creates the backlog of a stream. `cutOff` must release it. */
  backlog(cutOff: () => void): StreamBacklog {
    return new StreamBacklog(this, this.budget.reserve(0), this.clock, cutOff);
  }

  changed(backlog: StreamBacklog, bytes: number): void {
    this.bytes += bytes;
    if (backlog.bytes > 0) this.behind.add(backlog);
    else this.behind.delete(backlog);
    while (this.bytes > this.budget.limitBytes * SHARE_OF_BUDGET && this.behind.size > 0) this.cutOffWorst();
  }

  private cutOffWorst(): void {
    const now = this.clock.now();
    const harm = ({ bytes, since }: StreamBacklog): number => bytes * (now - since + 1);
    [...this.behind].reduce((one, other) => (harm(other) > harm(one) ? other : one)).cutOff();
  }
}

/** The bytes that wait for one reader. */
export class StreamBacklog {
  /** When bytes began to wait (epoch ms). */
  since = 0;

  constructor(
    private readonly memory: StreamMemory,
    private readonly reservation: MemoryReservation,
    private readonly clock: Clock,
    readonly cutOff: () => void,
  ) {}

  get bytes(): number {
    return this.reservation.bytes;
  }

  /** Sets the size. Disconnects the reader if the budget has no room. */
  resize(waitingBytes: number): void {
    const before = this.bytes;
    const bytes = waitingBytes > SMALL ? waitingBytes : 0;
    if (bytes === before) return;
    if (before === 0) this.since = this.clock.now();
    try {
      this.reservation.resize(bytes);
    } catch {
      return this.cutOff();
    }
    this.memory.changed(this, this.bytes - before);
  }

  release(): void {
    this.resize(0);
    this.reservation.release();
  }
}
