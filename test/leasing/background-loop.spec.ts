import { setImmediate } from 'node:timers/promises';

import { BackgroundLoop } from '../../src/common/background-loop.js';
import type { Logger } from '../../src/common/logger.js';
import { ManualClock } from '../support/manual-clock.js';

const BACK_OFF_MS = 1_000;

function loopOf(pass: () => Promise<number | null | void>) {
  const clock = new ManualClock();
  const warned: string[] = [];
  const logger = { warn: (_fields: object, message: string) => warned.push(message) } as unknown as Logger;
  const loop = new BackgroundLoop(pass, { clock, logger, failure: 'the work failed', backOffMs: BACK_OFF_MS });
  return { clock, loop, warned };
}

describe('a background loop', () => {
  it('runs one pass at a time, and another after a wake-up that came meanwhile', async () => {
    const ends = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let begun = 0;
    const { loop } = loopOf(() => ends[begun++]!.promise);
    loop.wake();
    loop.wake();
    loop.wake();
    expect(begun).toBe(1);
    ends[0]!.resolve();
    await setImmediate();
    expect(begun).toBe(2);
    ends[1]!.resolve();
    await setImmediate();
    expect(begun).toBe(2);
  });

  it('joins a running pass', async () => {
    const end = Promise.withResolvers<void>();
    let begun = 0;
    const { loop } = loopOf(() => ((begun += 1), end.promise));
    const both = Promise.all([loop.run(), loop.run()]);
    end.resolve();
    await both;
    expect(begun).toBe(1);
  });

  it('begins at the earliest time that is due, and at the time that the pass names', async () => {
    const passes: number[] = [];
    const { clock, loop } = loopOf(async () => {
      passes.push(clock.now() - start);
      return passes.length === 1 ? clock.now() + 500 : null;
    });
    const start = clock.now();
    loop.wake(start + 200);
    loop.wake(start + 100);
    loop.wake(start + 300);
    clock.advance(100);
    await setImmediate();
    clock.advance(499);
    await setImmediate();
    expect(passes).toEqual([100]);
    clock.advance(1);
    await setImmediate();
    expect(passes).toEqual([100, 600]);
  });

  it('logs a failure and tries again after a pause', async () => {
    let begun = 0;
    const { clock, loop, warned } = loopOf(async () => {
      begun += 1;
      if (begun === 1) throw new Error('disk full');
    });
    await loop.run();
    expect(warned).toEqual(['the work failed; trying again']);
    clock.advance(BACK_OFF_MS - 1);
    expect(begun).toBe(1);
    clock.advance(1);
    expect(begun).toBe(2);
  });

  it('stops after the running pass, and begins no other', async () => {
    const end = Promise.withResolvers<void>();
    let begun = 0;
    const { clock, loop } = loopOf(() => ((begun += 1), end.promise));
    loop.wake();
    loop.wake();
    let hasStopped = false;
    const stopped = loop.stop().then(() => (hasStopped = true));
    await setImmediate();
    expect([loop.stopped, hasStopped]).toEqual([true, false]);
    end.resolve();
    await stopped;
    loop.wake();
    clock.advance(BACK_OFF_MS);
    await loop.run();
    expect(begun).toBe(1);
  });
});
