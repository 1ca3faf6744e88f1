import { setImmediate } from 'node:timers/promises';

/** Limits the number of concurrent calls, serves them in order, and yields to other work in between. */
export class ReadLimiter {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      const result = await work();
      // node:sqlite is synchronous, so that awaiting a query does not let other work run.
      await setImmediate();
      return result;
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.free += 1;
    }
  }
}
