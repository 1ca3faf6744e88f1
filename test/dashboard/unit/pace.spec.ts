// Uses the app's own code, with a clock that the test moves.
import { mock } from 'node:test';

import { PacedRun } from '../../../dashboard/src/live/pace';

const EVERY_MS = 250;

/** The times in ms at which it ran. The earliest is 1, because no timer fires earlier. */
let runs: number[];

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 0 });
  runs = [];
});
afterEach(() => mock.timers.reset());

const start = (everyMs = EVERY_MS, run: () => unknown = () => undefined): PacedRun =>
  new PacedRun(everyMs, () => {
    runs.push(Date.now());
    return run();
  });

/** Advances the clock by single milliseconds, so that the work that each timer starts sets its own timers in time. */
async function advance(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1) {
    mock.timers.tick(1);
    await settled();
  }
  await settled();
}

/** Resolves when everything has run that waits for nothing but promises. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** Lets `perSecond` events happen, one by one, for some seconds. */
async function happen(paced: PacedRun, perSecond: number, seconds: number): Promise<void> {
  for (let count = 0; count < perSecond * seconds; count += 1) {
    paced.happened(1);
    await advance(1_000 / perSecond);
  }
}

const gaps = (): number[] => runs.slice(1).map((at, index) => at - runs[index]!);

describe('what runs after live events', () => {
  it('runs immediately after the first one, and then at most four times a second', async () => {
    const paced = start();
    await happen(paced, 20, 10);
    expect(runs[0]).toBe(1);
    expect(Math.min(...gaps())).toBeGreaterThanOrEqual(EVERY_MS);
    // The last events are followed, too.
    await advance(EVERY_MS);
    expect(runs.at(-1)).toBeGreaterThanOrEqual(9_950);
    expect(runs.length).toBeGreaterThanOrEqual(32);
  });

  it('runs less often the more events there are, but at least every 10 s', async () => {
    const paced = start();
    await happen(paced, 100, 20);
    const some = runs.length;
    runs = [];
    await happen(paced, 1_000, 60);
    expect(some).toBeLessThan(40);
    expect(Math.max(...gaps())).toBeLessThanOrEqual(10_001);
    expect(runs.length).toBeLessThanOrEqual(15);
  });

  it('runs again within a second after many events have ended', async () => {
    const paced = start();
    await happen(paced, 1_000, 12);
    const end = Date.now();
    runs = [];
    await advance(20_000);
    expect(runs).toHaveLength(1);
    expect(runs[0]! - end).toBeLessThanOrEqual(1_000);
  });

  it('never runs twice at the same time, and runs again for what happened meanwhile', async () => {
    let running = 0;
    let most = 0;
    const paced = start(EVERY_MS, async () => {
      most = Math.max(most, (running += 1));
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      running -= 1;
    });
    paced.happened(1);
    await advance(500);
    paced.happened(1);
    await advance(2_400);
    expect(runs).toEqual([1]);
    await advance(60_000);
    expect(runs).toHaveLength(2);
    expect(runs[1]! - 3_001).toBeLessThan(EVERY_MS);
    expect(most).toBe(1);
  });

  it('does not run after the caller has done it', async () => {
    const paced = start();
    paced.happened(1);
    paced.done();
    await advance(10_000);
    expect(runs).toEqual([]);
    paced.happened(1);
    await advance(1);
    expect(runs).toEqual([10_001]);
  });

  it('still runs when the time between two runs is changed while it is due', async () => {
    const paced = start(5_000);
    paced.happened(1);
    await advance(100);
    paced.happened(1);
    paced.every(1_000);
    await advance(10_000);
    expect(runs).toEqual([1, 5_001]);
  });
});
