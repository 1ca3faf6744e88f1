import { nextTryAt, retryAfter } from '../../src/webhooks/retry-schedule.js';

const TIMES = [5_000, 30_000, 120_000];
const MIDDLE = 0.5;
const NOW = Date.UTC(2026, 10, 20, 10);

describe('the time of the next try', () => {
  it.each([
    [1, 5_000],
    [2, 25_000],
    [3, 90_000],
  ])('after try %i is as long after that as the schedule parts them', (attempt, pause) => {
    expect(nextTryAt(TIMES, { attempt, startedAt: NOW }, MIDDLE)).toBe(NOW + pause);
  });

  it('differs by up to 20 %', () => {
    expect(nextTryAt(TIMES, { attempt: 1, startedAt: NOW }, 0)).toBe(NOW + 4_000);
    expect(nextTryAt(TIMES, { attempt: 1, startedAt: NOW }, 0.999_999)).toBe(NOW + 6_000);
  });

  it.each([[TIMES, 4], [[], 1]])('is none after the last: %j', (times, attempt) => {
    expect(nextTryAt(times, { attempt, startedAt: NOW }, MIDDLE)).toBeNull();
  });
});

describe('Retry-After', () => {
  it.each([
    ['120', NOW + 120_000],
    ['Fri, 20 Nov 2026 10:30:00 GMT', NOW + 1_800_000],
    ['999999999', NOW + 86_400_000],
    ['Fri, 20 Nov 2099 10:30:00 GMT', NOW + 86_400_000],
  ])('%s is kept, for a day at most', (header, time) => {
    expect(retryAfter(header, NOW)).toBe(time);
  });

  it.each([[undefined], [''], ['0'], ['-5'], ['soon'], ['Fri, 20 Nov 2026 09:30:00 GMT']])('%s asks for nothing', (header) => {
    expect(retryAfter(header, NOW)).toBeNull();
  });
});
