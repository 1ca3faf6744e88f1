import { nextTryAt } from '../../src/features/webhooks/retry-schedule.js';

const TIMES = [5_000, 30_000, 120_000];
const MIDDLE = 0.5;
const NOW = Date.UTC(2026, 10, 20, 10);

describe('the time of the next try', () => {
  it.each([
    [1, 5_000],
    [2, 25_000],
    [3, 90_000],
  ])('after try %i is as long after it as the schedule says', (attempt, pause) => {
    expect(nextTryAt(TIMES, { attempt, startedAt: NOW }, MIDDLE)).toBe(NOW + pause);
  });

  it('differs by up to 20 %', () => {
    expect(nextTryAt(TIMES, { attempt: 1, startedAt: NOW }, 0)).toBe(NOW + 4_000);
    expect(nextTryAt(TIMES, { attempt: 1, startedAt: NOW }, 0.999_999)).toBe(NOW + 6_000);
  });

  it.each([
    [TIMES, 4],
    [[], 1],
  ])('is none after the last: %j', (times, attempt) => {
    expect(nextTryAt(times, { attempt, startedAt: NOW }, MIDDLE)).toBeNull();
  });
});
