import { setImmediate } from 'node:timers/promises';

/** Lets a few at a time do something, in the order in which they asked, and others get to work in between. */
export class ReadLimiter {
  private readonly waiting: (() => void)[] = [];

  constructor(private free: number) {}

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.free > 0) this.free -= 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    try {
      const result = await work();
      // node:sqlite answers at once, so awaiting a query alone lets nobody else in.
      await setImmediate();
      return result;
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.free += 1;
    }
  }
}
