import { isoDurationText, parseDuration } from '../../src/common/units.js';

const HOUR_MS = 3_600_000;

test.each([
  ['500ms', 500],
  ['90s', 90_000],
  ['1.5h', 1.5 * HOUR_MS],
  ['1h30m', 1.5 * HOUR_MS],
  ['2d1ms', 48 * HOUR_MS + 1],
  ['1d2h3m4s5ms', 26 * HOUR_MS + 184_005],
  ['PT1H', HOUR_MS],
  ['PT1H30M', 1.5 * HOUR_MS],
  ['PT0.5S', 500],
  ['P1W1DT1M', 8 * 24 * HOUR_MS + 60_000],
])('%s is a duration, and has the same length in ISO 8601', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
  expect(parseDuration(isoDurationText(milliseconds))).toBe(milliseconds);
});

test.each([
  '',
  'P',
  'PT',
  '1',
  'h',
  '1h30',
  '30m1h',
  '1h1h',
  '-1h',
  '1 h',
  '1H',
  'pt1h',
  'P1M',
  'P1Y',
  '1w',
  'PT1H1h',
  '1h\n',
])('%j is not a duration', (text) => expect(parseDuration(text)).toBeNull());

test.each([
  [0, 'PT0S'],
  [500, 'PT0.5S'],
  [1.5 * HOUR_MS, 'PT1H30M'],
  [24 * HOUR_MS, 'P1D'],
  [25 * HOUR_MS + 1, 'P1DT1H0.001S'],
])('%d ms are %s', (milliseconds, text) => expect(isoDurationText(milliseconds)).toBe(text));
