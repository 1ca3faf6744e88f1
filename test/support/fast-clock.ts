import { type Cancel, Clock } from '../../src/common/clock.js';

/** A clock that runs faster than the system's: a test waits minutes in a fraction of a second. */
export class FastClock extends Clock {
  private readonly started = Date.now();

  constructor(private readonly speed: number) {
    super();
  }

  now(): number {
    return this.started + Math.floor((performance.now() - this.origin) * this.speed);
  }

  at(time: number, callback: () => void): Cancel {
    // setTimeout fires immediately for longer delays than a signed 32-bit integer; no test lasts that long.
    const delay = Math.min(Math.max(time - this.now(), 0) / this.speed, 2 ** 31 - 1);
    const timer = setTimeout(
      () => (this.now() >= time ? callback() : void (again = this.at(time, callback))),
      Math.ceil(delay),
    ).unref();
    let again: Cancel = () => undefined;
    return () => {
      clearTimeout(timer);
      again();
    };
  }

  private readonly origin = performance.now();
}

/**
 * Settings for an application on this clock: at its rate, the usual timeouts for a transfer would pass within
 * milliseconds.
 */
export const UNHURRIED_TRANSFERS = {
  requestTimeoutMs: 86_400_000,
  uploadTimeoutMs: 86_400_000,
  minTransferRateBytes: 0,
} as const;
