// Uses the app's own code: how it writes numbers, times and durations.
import {
  bytesText,
  costText,
  countText,
  durationText,
  jsonText,
  numberText,
  relativeText,
  shareText,
  shortId,
  timeText,
  utcText,
} from '../../../dashboard/src/formats';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

it.each([
  [0, '0'],
  [999, '999'],
  [1_000, '1,000'],
  [1_234_567, '1,234,567'],
  [-1_234.5, '-1,234.5'],
  [0.1 + 0.2, '0.3'],
  [1_234.567_8, '1,234.568'],
])('the number %d is %s', (value, text) => {
  expect(numberText(value)).toBe(text);
});

it.each([
  [-5, '0 ms'],
  [0.4, '0 ms'],
  [340, '340 ms'],
  [999.4, '999 ms'],
  [1_000, '1 s'],
  [1_240, '1.2 s'],
  [9_999, '10 s'],
  [59_999, '1 min'],
  [125 * SECOND, '2 min 5 s'],
  [3 * HOUR + 4 * MINUTE + 59 * SECOND, '3 h 4 min'],
  [HOUR, '1 h'],
  [2 * DAY + 3 * HOUR, '2 d 3 h'],
  [400 * DAY, '400 d'],
])('the duration of %d ms is %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});

it.each([
  [0, 'just now'],
  [999, 'just now'],
  [12_900, '12 s ago'],
  [125 * SECOND, '2 min ago'],
  [3 * DAY + HOUR, '3 d ago'],
  [-3 * MINUTE - 1, 'in 3 min'],
])('%d ms before now is %s', (ms, text) => {
  expect(relativeText(new Date(5 * DAY - ms), 5 * DAY)).toBe(text);
});

it('a time is local, with as much of its day as is needed; on hover it is in UTC', () => {
  const now = new Date(2026, 10, 24, 9, 0, 0);
  expect(timeText(new Date(2026, 10, 24, 1, 2, 3), now)).toBe('01:02:03');
  expect(timeText(new Date(2026, 10, 22, 21, 37, 1), now)).toBe('22 Nov, 21:37:01');
  expect(timeText(new Date(2025, 0, 2, 3, 4, 5), now)).toBe('2 Jan 2025, 03:04');
  expect(utcText(new Date(Date.UTC(2026, 10, 23, 9, 0, 0, 123)))).toBe('2026-11-23 09:00:00.123 UTC');
});

it('counts have the number of their noun', () => {
  expect([0, 1, 2_000].map((count) => countText(count, 'artifact'))).toEqual([
    '0 artifacts',
    '1 artifact',
    '2,000 artifacts',
  ]);
  expect(countText(2, 'process', 'processes')).toBe('2 processes');
});

it('shares, costs and sizes have as many digits as one reads', () => {
  expect([0, 0.042, 0.1, 1].map(shareText)).toEqual(['0 %', '4.2 %', '10 %', '100 %']);
  expect([0, 0.123_456, 12, 0.1 + 0.2].map(costText)).toEqual(['0', '0.1235', '12', '0.3']);
  expect([512, 240_000, 1_500_000, 2e9].map(bytesText)).toEqual(['512 B', '240 kB', '1.5 MB', '2 GB']);
});

it('a long id has its beginning and its end', () => {
  expect(shortId('order-1')).toBe('order-1');
  expect(shortId('01KB2Q9Z7Y8X6W5V4T3S2R1Q0P')).toBe('01KB…3S2R1Q0P');
});

it('JSON shows the characters that would reverse its text', () => {
  expect(jsonText({ name: 'a\u202egpj.exe' })).toBe('{"name":"a\\u202egpj.exe"}');
  expect(jsonText(undefined)).toBe('');
});
