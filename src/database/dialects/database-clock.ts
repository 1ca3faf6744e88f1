import { SystemClock } from '../../common/clock.js';

/** A reading that took longer says too little about when it was made. */
const SLOWEST_READING_MS = 1_000;

/** How far apart two clocks may run, per ms: ten times what common hardware does. */
const DRIFT = 0.0005;

/**
 * The time of a database that several machines share, since their own clocks differ: leases and timers mean the same to all. It runs
 * on with this machine's monotonic clock, which nobody can set, and is set by readings of the database's.
 */
export class DatabaseClock extends SystemClock {
  /** Database time less monotonic time, in ms. */
  private offset = Date.now() - performance.now();
  /** Of the reading that it goes by; `took`: twice how far it may be wrong. */
  private reading = { at: -Infinity, took: Infinity };

  override now(): number {
    return Math.round(performance.now() + this.offset);
  }

  /** `read` asks the database for its time, in epoch ms. A quick reading is gone by for longer than a slow one. */
  async set(read: () => Promise<number>): Promise<void> {
    const asked = performance.now();
    const time = await read();
    const at = performance.now();
    const took = at - asked;
    const { reading } = this;
    if (took > SLOWEST_READING_MS || took > reading.took + (at - reading.at) * DRIFT) return;
    this.reading = { at, took };
    this.offset = time - (asked + at) / 2;
  }
}
