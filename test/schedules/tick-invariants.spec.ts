// The check of ticks finds errors that are planted into good ones.
import type { ScheduleOptions } from '../../src/catalog/schedules/schedule.js';
import type { Rows } from '../support/database.js';
import { type Tick, tickBreaches, ticksDuringWork } from './tick-invariants.js';

const START = Date.UTC(2026, 10, 20, 10);
const MINUTE = 60_000;

/** A tick so many minutes after the start, whose work lasts for ten seconds. */
function published(minute: number, more: Partial<Tick> = {}): Tick {
  const at = START + minute * MINUTE;
  const hex = at.toString(16).padStart(12, '0');
  const times = { begun: at, decided: at, settled: at + 10_000 };
  return {
    ...{ schedule: 's', at, state: 'published', reason: null, correlation: `c${minute}`, work: 'completed', ...times },
    artifact: `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-00000000000${minute}`,
    ...{ place: minute, payload: new Date(at).toISOString(), tags: '["schedule:s"]', ...more },
  };
}

const NONE = { artifact: null, correlation: null, place: null, payload: null, tags: null, work: null };
const skipped = (minute: number, reason: string, lateMs: number): Tick => {
  const tick = published(minute, { ...NONE, state: 'skipped', reason, begun: null, settled: null });
  return { ...tick, decided: tick.at + lateMs };
};

/** The ticks of a schedule that ticks each minute, and was paused after the third one. */
async function breachesOf(
  ticks: readonly Tick[],
  rules: Partial<ScheduleOptions> = {},
  artifacts?: number,
  { check = tickBreaches, paused_at = (START + 4 * MINUTE) as number | null } = {},
) {
  const options = JSON.stringify({ cron: '0 * * * * *', publishes: { type: 'Due' }, ...rules });
  const row = { name: 's', options, created_at: START, position: START + 3 * MINUTE, paused_at };
  const count = artifacts ?? ticks.filter(({ state }) => state === 'published').length;
  const rows = (async (query: string) =>
    query.includes('count(*)') ? [{ count }] : query.includes('schedule_ticks') ? ticks : [row]) as unknown as Rows;
  return check(rows, new Set(['s']));
}

const overlapped = (correlation: string): string => `correlation ${correlation} of an earlier tick is still active`;
const later = (minute: number): string =>
  `missed; the tick of ${new Date(START + minute * MINUTE).toISOString()} is later`;
const long = { settled: START + 2 * MINUTE + 30_000 };

it.each<[string, Tick[], Partial<ScheduleOptions>]>([
  ['published ones', [published(1), published(2), published(3)], {}],
  ['overlaps that are allowed', [published(1, long), published(2), published(3)], {}],
  ['one that is skipped', [published(1, long), skipped(2, overlapped('c1'), 0), published(3)], { overlap: 'skip' }],
  [
    'one that waits in the queue',
    [published(1, long), published(2, { ...long, begun: long.settled }), published(3)],
    { overlap: 'queue' },
  ],
  [
    'one that cancels the earlier one',
    [published(1, { work: 'cancelled', settled: START + 2 * MINUTE }), published(2), published(3)],
    { overlap: 'cancel_running' },
  ],
  [
    'those that are missed',
    [skipped(1, 'missed', 5 * MINUTE), skipped(2, 'missed', 4 * MINUTE), skipped(3, 'missed', 3 * MINUTE)],
    { missed: 'skip' },
  ],
  [
    'those that a pause skips',
    [published(1), skipped(2, 'the schedule was paused', 2 * MINUTE), skipped(3, 'the schedule was paused', MINUTE)],
    {},
  ],
  [
    'the last of those that are missed',
    [skipped(1, later(2), 3 * MINUTE), skipped(2, later(3), 2 * MINUTE), published(3, { decided: START + 4 * MINUTE })],
    { missed: 'run_last' },
  ],
])('the check of ticks allows %s', async (_, ticks, rules) => {
  expect(await breachesOf(ticks, rules)).toEqual([]);
});

it.each<[string, Tick[], Partial<ScheduleOptions>, RegExp]>([
  ['a tick that is lost', [published(1), published(3)], {}, /was not decided$/],
  ['a tick twice', [published(1), published(1), published(2), published(3)], {}, /and was not due$/],
  ['a tick of another time', [published(1), published(2), published(2.5), published(3)], {}, /and was not due$/],
  ['a tick in a queue', [published(1), published(2), published(3, { ...NONE, state: 'queued' })], {}, / is queued/],
  ['no artifact', [published(1), published(2), published(3, { artifact: null })], {}, /has no artifact/],
  [
    'an id of another time',
    [published(1), published(2), published(3, { artifact: published(2).artifact })],
    {},
    /has an id of another time/,
  ],
  [
    'a payload of another time',
    [published(1), published(2), published(3, { payload: published(2).payload })],
    {},
    /has the payload of another time/,
  ],
  ['no tag', [published(1), published(2), published(3, { tags: '["schedule:other"]' })], {}, /has no tag/],
  [
    'another order',
    [published(1), published(2), published(3, { place: 1 })],
    {},
    /was published before an earlier one/,
  ],
  ['an overlap', [published(1, long), published(2), published(3)], { overlap: 'skip' }, /overlaps with the work/],
  [
    'an overlap in a queue',
    [published(1, long), published(2), published(3)],
    { overlap: 'queue' },
    /overlaps with the/,
  ],
  [
    'a cancellation without a rule',
    [published(1, { work: 'cancelled' }), published(2), published(3)],
    { overlap: 'cancel_running' },
    /is not why the work of \d+ was cancelled/,
  ],
  [
    'a skipped one that overlaps with nothing',
    [published(1), skipped(2, overlapped('c1'), 0), published(3)],
    { overlap: 'skip' },
    /does not overlap/,
  ],
  [
    'a skipped one that was not missed',
    [published(1), skipped(2, 'missed', MINUTE / 2), published(3)],
    { missed: 'skip' },
    /was not missed/,
  ],
  [
    'one that was skipped before the pause',
    [published(1), published(2), skipped(3, 'the schedule was paused', MINUTE / 2)],
    {},
    /was not decided by the pause/,
  ],
  [
    'a skipped one that should be made up for',
    [published(1), skipped(2, 'missed', 5 * MINUTE), published(3)],
    {},
    /was not missed/,
  ],
  [
    'a published one that was missed',
    [published(1), published(2), published(3, { decided: START + 9 * MINUTE })],
    { missed: 'skip' },
    /was missed/,
  ],
  [
    'a missed one that is not the last',
    [published(1), published(2, { decided: START + 9 * MINUTE }), published(3)],
    { missed: 'run_last' },
    /is not the last one/,
  ],
  [
    'a published one that is older than catch_up',
    [published(1), published(2), published(3, { decided: START + 9 * MINUTE })],
    { catch_up: '2m' },
    /is older than catch_up/,
  ],
])('the check of ticks finds %s', async (_, ticks, rules, found) => {
  expect(await breachesOf(ticks, rules)).toEqual([expect.stringMatching(found)]);
});

it('the check of ticks finds an artifact that no tick has', async () => {
  expect(await breachesOf([published(1), published(2), published(3)], {}, 4)).toEqual([
    '4 artifacts of 3 ticks were published',
  ]);
});

describe('the check of ticks while they come', () => {
  const until = new Date(START + 5 * MINUTE).toISOString();
  const duringWork = (ticks: readonly Tick[], rules: Partial<ScheduleOptions> = {}) =>
    breachesOf(ticks, { until, ...rules }, undefined, { check: ticksDuringWork, paused_at: null });

  it('allows those that are not decided yet', async () => {
    expect(await duringWork([published(1), published(2), published(3)])).toEqual([]);
  });

  it('allows those in a queue', async () => {
    const queued = [2, 3].map((minute) => published(minute, { ...NONE, state: 'queued' }));
    expect(await duringWork([published(1, { settled: null }), ...queued], { overlap: 'queue' })).toEqual([]);
  });

  it('finds a tick that is lost before the last decision', async () => {
    expect(await duringWork([published(1), published(3)])).toEqual([expect.stringMatching(/was not decided$/)]);
  });

  it('finds a tick after the last decision', async () => {
    const ticks = [published(1), published(2), published(3), published(4)];
    expect(await duringWork(ticks)).toEqual([expect.stringMatching(/and was not due$/)]);
  });
});
