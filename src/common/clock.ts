import { type Cancel, scheduler } from './scheduler.js';

export type { Cancel } from './scheduler.js';

/** The only source of time. Services inject it, so that tests can move time without sleeping. */
export abstract class Clock {
  /** Milliseconds since the Unix epoch. */
  abstract now(): number;

  /**
   * Calls `callback` once, as soon as `now()` has reached `time` (epoch ms). The timer does not keep the process alive.
   */
  abstract at(time: number, callback: () => void): Cancel;

  /** Resolves after `ms` milliseconds. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => this.at(this.now() + ms, resolve));
  }
}

// setTimeout fires immediately if the delay does not fit into a signed 32-bit integer.
const LONGEST_TIMEOUT_MS = 2 ** 31 - 1;

export class SystemClock extends Clock {
  now(): number {
    return scheduler.time();
  }

  at(time: number, callback: () => void): Cancel {
    let cancel: Cancel;
    const arm = (): void => {
      const remaining = time - this.now();
      if (remaining <= 0) callback();
      else cancel = scheduler.after(Math.min(remaining, LONGEST_TIMEOUT_MS), arm);
    };
    cancel = scheduler.after(Math.min(Math.max(time - this.now(), 0), LONGEST_TIMEOUT_MS), arm);
    return () => cancel();
  }
}
