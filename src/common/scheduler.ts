export type Cancel = () => void;

/**
 * The machine's time, and the turns and timers of its event loop. `src` takes them from here alone
 * (`test/architecture/scheduler.spec.ts`), so that a simulation can decide them. A process has one event loop, so this
 * is not injected. Services ask `Clock` for the time, which on Postgres is the database's.
 */
export interface Scheduler {
  /** The machine's clock: milliseconds since the Unix epoch. It may be set back. */
  time(): number;
  /** Milliseconds of a clock that is never set, with fractions. Only differences have a meaning. */
  elapsed(): number;
  /** Calls `callback` in a later turn of the event loop. */
  later(callback: () => void): void;
  /** Calls `callback` after `ms`, at most 2^31 - 1. Does not keep the process alive. */
  after(ms: number, callback: () => void): Cancel;
  /** Resolves after `ms`. Keeps the process alive until then. */
  pause(ms: number): Promise<void>;
}

class SystemScheduler implements Scheduler {
  time(): number {
    return Date.now();
  }

  elapsed(): number {
    return performance.now();
  }

  later(callback: () => void): void {
    setImmediate(callback);
  }

  after(ms: number, callback: () => void): Cancel {
    const timer = setTimeout(callback, ms).unref();
    return () => clearTimeout(timer);
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, ms));
  }
}

export let scheduler: Scheduler = new SystemScheduler();

/** Returns a function that takes the replacement back. Objects that were made before keep the timers that they have. */
export function replaceScheduler(other: Scheduler): () => void {
  const before = scheduler;
  scheduler = other;
  return () => (scheduler = before);
}

/** Resolves in a later turn of the event loop. */
export const laterTurn = (): Promise<void> => new Promise((resolve) => scheduler.later(resolve));
