import { scheduler } from './scheduler.js';
/** Background work that ticks start. It never runs twice at the same time, and stops only between its steps. */
export class SingleFlight {
  private running: Promise<void> | null = null;
  private isStopped = false;

  /** `work` checks `stopped` before each of its steps and handles its own errors. */
  constructor(private readonly work: () => Promise<void>) {}

  get stopped(): boolean {
    return this.isStopped;
  }

  /** Starts the work if it is not running, and resolves when it has ended. */
  run(): Promise<void> {
    this.running ??= this.work().finally(() => (this.running = null));
    return this.running;
  }

  /** Resolves when the current step has ended. */
  async stop(): Promise<void> {
    this.isStopped = true;
    await this.running;
  }
}

const PAUSE_FACTOR = 20;

/**
 * Returns the latest result of `count` for a while, so that an expensive count takes at most a twentieth of the time.
 */
export function throttled<T>(count: () => Promise<T>): () => Promise<T> {
  let found: Promise<T> | null = null;
  const countNow = async (): Promise<T> => {
    const startedAt = scheduler.elapsed();
    try {
      return await count();
    } finally {
      scheduler.after(PAUSE_FACTOR * (scheduler.elapsed() - startedAt), () => (found = null));
    }
  };
  return () => (found ??= countNow());
}
