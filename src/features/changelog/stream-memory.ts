import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { MemoryBudget, type MemoryReservation } from '../../common/memory-budget.js';

/** What waits for all readers together, as a share of the budget: requests need the rest. */
const SHARE_OF_BUDGET = 1 / 4;

/** About what Node keeps for any connection: a reader that is so little behind is not counted, and goes on when memory is short. */
const SMALL = 16 * 1_024;

/** What waits for the readers of streams, as a part of the memory budget. Past its share, the reader that is behind the most for the longest time is cut off. */
@Injectable()
export class StreamMemory {
  private readonly behind = new Set<StreamBacklog>();
  private bytes = 0;

  constructor(
    private readonly budget: MemoryBudget,
    private readonly clock: Clock,
  ) {}

  /** For a stream that begins. `cutOff` has to release the backlog. */
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

/** What waits for one reader. */
export class StreamBacklog {
  /** Since when something waits (epoch ms). */
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

  /** Disconnects the reader if the budget has no room for its backlog. */
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
