import { SystemClock } from '../../common/clock.js';

/** A reading that took longer says too little about when it was made. */
const SLOWEST_READING_MS = 1_000;

/**
 * The time of a database that several machines share, since their own clocks differ: leases and timers mean the same to all. It runs
 * on with this machine's monotonic clock, which nobody can set, and is set by the database's at every reading.
 */
export class DatabaseClock extends SystemClock {
  /** Database time less monotonic time, in ms. */
  private offset = Date.now() - performance.now();

  override now(): number {
    return Math.round(performance.now() + this.offset);
  }

  /** `read` asks the database for its time, in epoch ms. Keeps the time that it has where the answer was slow. */
  async set(read: () => Promise<number>): Promise<void> {
    const asked = performance.now();
    const time = await read();
    const answered = performance.now();
    if (answered - asked <= SLOWEST_READING_MS) this.offset = time - (asked + answered) / 2;
  }
}
