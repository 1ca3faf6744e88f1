import { retryAfter } from '../../src/http-client/retry-after.js';

const NOW = Date.UTC(2026, 10, 20, 10);

describe('Retry-After', () => {
  it.each([
    ['120', NOW + 120_000],
    ['Fri, 20 Nov 2026 10:30:00 GMT', NOW + 1_800_000],
    ['999999999', NOW + 86_400_000],
    ['Fri, 20 Nov 2099 10:30:00 GMT', NOW + 86_400_000],
  ])('%s is respected, for a day at most', (header, time) => {
    expect(retryAfter(header, NOW)).toBe(time);
  });

  it.each([[undefined], [''], ['0'], ['-5'], ['soon'], ['Fri, 20 Nov 2026 09:30:00 GMT']])(
    '%s is ignored',
    (header) => {
      expect(retryAfter(header, NOW)).toBeNull();
    },
  );
});
