import { SystemClock } from '../../common/clock.js';

/** A reading that took longer than this is too inaccurate. */
const SLOWEST_READING_MS = 1_000;

/** How far two clocks may drift apart, per ms: ten times what common hardware does. */
const DRIFT = 0.0005;

/**
 * The time of a database that several machines share, so that leases and timers mean the same on machines whose clocks
 * differ. Between readings it advances with this machine's monotonic clock, which cannot be set.
 */
export class DatabaseClock extends SystemClock {
  /** Database time minus monotonic time (ms). */
  private offset = Date.now() - performance.now();
  /** The current reading. `took` is twice its largest possible error. */
  private reading = { at: -Infinity, took: Infinity };

  override now(): number {
    return Math.round(performance.now() + this.offset);
  }

  /** `read` returns the database's time in epoch ms. The faster a reading was, the longer it stays in use. */
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
