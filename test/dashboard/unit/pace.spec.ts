// Uses the app's own code, with a clock that the test moves.
import { PacedRun } from '../../../dashboard/src/live/pace';

const { jest } = import.meta;

const EVERY_MS = 250;

/** The times in ms at which it ran. */
let runs: number[];

beforeEach(() => {
  jest.useFakeTimers({ now: 0 });
  runs = [];
});
afterEach(() => void jest.useRealTimers());

const start = (everyMs = EVERY_MS, run: () => unknown = () => undefined): PacedRun =>
  new PacedRun(everyMs, () => {
    runs.push(Date.now());
    return run();
  });

/** Lets `perSecond` events happen, one by one, for some seconds. */
async function happen(paced: PacedRun, perSecond: number, seconds: number): Promise<void> {
  for (let count = 0; count < perSecond * seconds; count += 1) {
    paced.happened(1);
    await jest.advanceTimersByTimeAsync(1_000 / perSecond);
  }
}

const gaps = (): number[] => runs.slice(1).map((at, index) => at - runs[index]!);

describe('what runs after live events', () => {
  it('runs immediately after the first one, and then at most four times a second', async () => {
    const paced = start();
    await happen(paced, 20, 10);
    expect(runs[0]).toBe(0);
    expect(Math.min(...gaps())).toBeGreaterThanOrEqual(EVERY_MS);
    // The last events are followed, too.
    await jest.advanceTimersByTimeAsync(EVERY_MS);
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
    await jest.advanceTimersByTimeAsync(20_000);
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
    await jest.advanceTimersByTimeAsync(500);
    paced.happened(1);
    await jest.advanceTimersByTimeAsync(2_400);
    expect(runs).toEqual([0]);
    await jest.advanceTimersByTimeAsync(60_000);
    expect(runs).toHaveLength(2);
    expect(runs[1]! - 3_000).toBeLessThan(EVERY_MS);
    expect(most).toBe(1);
  });

  it('does not run after the caller has done it', async () => {
    const paced = start();
    paced.happened(1);
    paced.done();
    await jest.advanceTimersByTimeAsync(10_000);
    expect(runs).toEqual([]);
    paced.happened(1);
    await jest.advanceTimersByTimeAsync(0);
    expect(runs).toEqual([10_000]);
  });

  it('still runs when the time between two runs is changed while it is due', async () => {
    const paced = start(5_000);
    paced.happened(1);
    await jest.advanceTimersByTimeAsync(100);
    paced.happened(1);
    paced.every(1_000);
    await jest.advanceTimersByTimeAsync(10_000);
    expect(runs).toEqual([0, 5_000]);
  });
});
