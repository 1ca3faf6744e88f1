import { ticksBetween } from '../../src/catalog/schedules/next-tick.js';
import { DUPLICATE, MISSING } from '../../src/catalog/schedules/schedule.js';
import { transitionsOf, walk, walkedTicks } from './independent-ticks.js';
import { scheduleFrom } from './made-schedules.js';

const HOUR = 3_600_000;
/** With STARLING_ALL_TRANSITIONS=1 every zone; otherwise those whose clocks change in unusual ways, and two usual ones. */
const ALL = process.env.STARLING_ALL_TRANSITIONS === '1';
const SOME_ZONES = [
  'Africa/Cairo',
  'Africa/Casablanca',
  'America/New_York',
  'America/Nuuk',
  'America/Santiago',
  'Antarctica/Casey',
  'Antarctica/Troll',
  'Asia/Gaza',
  'Australia/Lord_Howe',
  'Europe/Berlin',
  'Pacific/Chatham',
];
const [FROM, TO] = ALL ? [Date.UTC(2020, 0, 1), Date.UTC(2036, 0, 1)] : [Date.UTC(2023, 0, 1), Date.UTC(2024, 0, 1)];

const DAY_MINUTES = Array.from({ length: 1440 }, (_, minute) => minute);
const minutesThat = (are: (minute: number) => boolean): Set<number> => new Set(DAY_MINUTES.filter(are));

/** Local times before, in and after what the clocks leave out or repeat, and one in every quarter of an hour. */
const PATTERNS: [cron: string, minutes: Set<number>][] = [
  ['*/15 * * * *', minutesThat((minute) => minute % 15 === 0)],
  [
    '10,40 0-4,22,23 * * *',
    minutesThat((minute) => [10, 40].includes(minute % 60) && (minute < 300 || minute >= 1320)),
  ],
  ['0 0,2,3 * * *', minutesThat((minute) => [0, 120, 180].includes(minute))],
];
const POLICIES = MISSING.flatMap((missing) => DUPLICATE.map((duplicate) => ({ missing, duplicate })));

/**
 * Compares with a calculation that walks over the instants and asks Intl what each one is called. `npm test` does this for
 * some zones and years, `npm run test:zones` for all.
 */
describe('every change of the clocks from 2020 to 2035', () => {
  const zones = ALL ? Intl.supportedValuesOf('timeZone') : SOME_ZONES;
  const groups = zones
    .map((timeZone) => ({ timeZone, transitions: transitionsOf(timeZone, FROM, TO) }))
    .filter(({ transitions }) => transitions.length > 0);

  it('is in the list', () => {
    expect(groups.length).toBeGreaterThanOrEqual(ALL ? 100 : SOME_ZONES.length);
  });

  it('ticks as an independent calculation says, with each policy', () => {
    const wrong: string[] = [];
    for (const { timeZone, transitions } of groups) {
      for (const { at } of transitions) {
        const [from, to] = [at - 4 * HOUR, at + 5 * HOUR];
        const walked = walk(timeZone, from, to);
        for (const [cron, minutes] of PATTERNS) {
          for (const dst of POLICIES) {
            const found = ticksBetween(scheduleFrom({ cron, time_zone: timeZone, dst }), from - 1, to, 10_000);
            const expected = walkedTicks(walked, minutes, dst);
            if (JSON.stringify(found) === JSON.stringify(expected)) continue;
            wrong.push(`${timeZone} ${cron} ${JSON.stringify(dst)} ${show(found)} not ${show(expected)}`);
          }
        }
      }
    }
    expect(wrong.slice(0, 5)).toEqual([]);
  });
});

const show = (times: readonly number[]): string =>
  times.map((time) => new Date(time).toISOString().slice(11, 16)).join(' ');
