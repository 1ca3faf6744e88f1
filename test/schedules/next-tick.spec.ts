import { findTick } from '../../src/catalog/schedules/next-tick.js';
import { scheduleFrom, ticks, type Times } from './made-schedules.js';

const at = (text: string): number => Date.parse(text);

describe('the ticks of a schedule', () => {
  it('are those of a cron expression in local time', () => {
    expect(ticks({ cron: '0 9 * * MON-FRI', time_zone: 'Europe/Berlin' }, '2026-03-26T12:00:00Z', 3)).toEqual([
      '2026-03-27T08:00:00.000Z',
      '2026-03-30T07:00:00.000Z',
      '2026-03-31T07:00:00.000Z',
    ]);
    expect(ticks({ cron: '*/20 * * * * *' }, '2026-01-01T00:00:00Z', 4)).toEqual([
      '2026-01-01T00:00:20.000Z',
      '2026-01-01T00:00:40.000Z',
      '2026-01-01T00:01:00.000Z',
      '2026-01-01T00:01:20.000Z',
    ]);
    expect(ticks({ cron: '0 12 L * *' }, '2027-01-31T12:00:00Z', 2)).toEqual([
      '2027-02-28T12:00:00.000Z',
      '2027-03-31T12:00:00.000Z',
    ]);
  });

  it('know leap days', () => {
    expect(ticks({ cron: '0 0 29 2 *' }, '2026-01-01T00:00:00Z', 3)).toEqual([
      '2028-02-29T00:00:00.000Z',
      '2032-02-29T00:00:00.000Z',
      '2036-02-29T00:00:00.000Z',
    ]);
    expect(ticks({ cron: '0 0 29 2 *' }, '2096-03-01T00:00:00Z', 1)).toEqual(['2104-02-29T00:00:00.000Z']);
    expect(ticks({ at: '2028-02-29T12:00', time_zone: 'Asia/Tokyo' }, '2026-01-01T00:00:00Z', 2)).toEqual([
      '2028-02-29T03:00:00.000Z',
    ]);
  });

  it('of `every` count from `from`, or from 1970, and no restart moves them', () => {
    expect(ticks({ every: '90m' }, '2026-01-01T00:10:00Z', 2)).toEqual([
      '2026-01-01T01:30:00.000Z',
      '2026-01-01T03:00:00.000Z',
    ]);
    expect(ticks({ every: '90m', from: '2026-01-01T00:07Z' }, '2026-01-01T01:37:00Z', 1)).toEqual([
      '2026-01-01T03:07:00.000Z',
    ]);
    expect(ticks({ every: '90m', from: '2026-01-01T00:07Z' }, '2025-06-01T00:00:00Z', 1)).toEqual([
      '2026-01-01T00:07:00.000Z',
    ]);
  });

  it('a time that is missing moves by the gap, or has no tick', () => {
    const daily = { cron: '30 2 * * *', time_zone: 'Europe/Berlin' };
    expect(ticks(daily, '2026-03-28T12:00:00Z', 2)).toEqual(['2026-03-29T01:30:00.000Z', '2026-03-30T00:30:00.000Z']);
    expect(ticks({ ...daily, dst: { missing: 'skip' } }, '2026-03-28T12:00:00Z', 1)).toEqual([
      '2026-03-30T00:30:00.000Z',
    ]);
    // The moved time also has a tick: the two are one.
    expect(ticks({ ...daily, cron: '30 2,3 * * *' }, '2026-03-28T12:00:00Z', 2)).toEqual([
      '2026-03-29T01:30:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ]);
  });

  it('a time that exists twice ticks at the first, the last or both', () => {
    const daily = { cron: '30 2 * * *', time_zone: 'Europe/Berlin' };
    const around = (duplicate?: 'first' | 'last' | 'both'): string[] =>
      ticks({ ...daily, ...(duplicate && { dst: { duplicate } }) }, '2026-10-24T12:00:00Z', 2);
    const [first, last, next] = ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z', '2026-10-26T01:30:00.000Z'];
    expect(around()).toEqual([first, next]);
    expect(around('first')).toEqual([first, next]);
    expect(around('last')).toEqual([last, next]);
    expect(around('both')).toEqual([first, last]);
    // Every hour is every hour, also in the night in which one is repeated.
    expect(ticks({ cron: '0 * * * *', time_zone: 'Europe/Berlin' }, '2026-10-25T00:00:00Z', 2)).toEqual([
      '2026-10-25T01:00:00.000Z',
      '2026-10-25T02:00:00.000Z',
    ]);
  });

  it('end with `until`, begin with `from`, and leave out `except`', () => {
    const daily = { cron: '0 12 * * *', from: '2026-12-23', until: '2026-12-27', time_zone: 'America/New_York' };
    expect(ticks({ ...daily, except: ['2026-12-25', '* * 26 12 *'] }, '2026-01-01T00:00:00Z', 10)).toEqual([
      '2026-12-23T17:00:00.000Z',
      '2026-12-24T17:00:00.000Z',
      '2026-12-27T17:00:00.000Z',
    ]);
    expect(ticks({ every: '1s', except: ['2026-12-25'] }, '2026-12-24T23:59:58Z', 2)).toEqual([
      '2026-12-24T23:59:59.000Z',
      '2026-12-26T00:00:00.000Z',
    ]);
    expect(ticks({ every: '1s', except: ['* 3-4 * * *'] }, '2026-12-24T02:59:59Z', 1)).toEqual([
      '2026-12-24T05:00:00.000Z',
    ]);
  });

  it('come again after many in a row that `except` leaves out', () => {
    for (const july of [['* * * 7 *'], ['0-59 */1 * 7 *'], ['* * * * 7 *']])
      expect(ticks({ every: '1m', except: july }, '2026-06-30T23:58:00Z', 2)).toEqual([
        '2026-06-30T23:59:00.000Z',
        '2026-08-01T00:00:00.000Z',
      ]);
    expect(ticks({ every: '1s', except: ['* * 12-22 * * *'] }, '2026-06-30T11:59:58Z', 2)).toEqual([
      '2026-06-30T11:59:59.000Z',
      '2026-06-30T23:00:00.000Z',
    ]);
    expect(ticks({ every: '1s', except: ['* * * 1 *'] }, '1970-01-01T00:00:00Z', 1)).toEqual([
      '1970-02-01T00:00:00.000Z',
    ]);
    // The hour that exists twice is left out both times, and the hours next to it are not.
    const night = { every: '30m', except: ['* 2 * * *'], time_zone: 'Europe/Berlin' };
    expect(ticks(night, '2026-10-24T23:30:00Z', 2)).toEqual(['2026-10-25T02:00:00.000Z', '2026-10-25T02:30:00.000Z']);
    expect(ticks({ every: '30m', except: ['@hourly'] }, '2026-10-24T23:30:00Z', 1)).toEqual([
      '2026-10-25T00:30:00.000Z',
    ]);
  });

  it('come again on the day after one that `except` leaves out, whatever the clocks do on it', () => {
    // In Nuuk, 27 March 2027 has 23 hours: its clocks change an hour before midnight.
    for (const except of [['2027-03-27'], ['* * 27 3 *']])
      expect(ticks({ cron: '0 * * * *', time_zone: 'America/Nuuk', except }, '2027-03-27T00:00:00Z', 2)).toEqual([
        '2027-03-27T01:00:00.000Z',
        '2027-03-28T01:00:00.000Z',
      ]);
  });

  it('are searched for in parts where `except` leaves out parts of each of many hours', () => {
    const schedule = scheduleFrom({ every: '1m', except: ['0-29 * * 7 *', '30-59 * * 7 *'] });
    const found = [at('2026-06-30T23:58:00Z')];
    while (found.at(-1)! < at('2026-08-01T00:00:00Z')) {
      const next = findTick(schedule, found.at(-1)!);
      found.push(next.tick ?? next.noneUntil);
    }
    const [, last, ...parts] = found;
    expect(last).toBe(at('2026-06-30T23:59:00Z'));
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.slice(0, -1).every((end) => end < at('2026-07-31T23:59:59Z'))).toBe(true);
    expect(parts.at(-1)).toBe(at('2026-08-01T00:00:00Z'));
  });

  it('are refused if `except` leaves out all of them', () => {
    const all = { every: '1s', except: ['* * * * *'] };
    expect(() => ticks(all, '2026-01-01T00:00:00Z', 1)).toThrow('would never tick');
  });

  it('of `at` are the listed times, in order, local unless they have an offset', () => {
    const listed = { at: ['2026-12-24T18:00', '2026-12-24T12:00Z'], time_zone: 'Europe/Berlin' };
    expect(ticks(listed, '2026-01-01T00:00:00Z', 5)).toEqual(['2026-12-24T12:00:00.000Z', '2026-12-24T17:00:00.000Z']);
    expect(ticks(listed, '2026-12-24T17:00:00Z', 5)).toEqual([]);
  });

  it('of `at`, and `from` and `until`, may be local times that are missing or exist twice', () => {
    const zone = { time_zone: 'Europe/Berlin' };
    const at = (time: string, dst?: Times['dst']): string[] =>
      ticks({ at: [time, '2026-12-01T12:00'], ...zone, ...(dst && { dst }) }, '2026-01-01T00:00:00Z', 5).slice(0, -1);
    const [missing, twice] = ['2026-03-29T02:30', '2026-10-25T02:30'];
    expect(at(missing)).toEqual(['2026-03-29T01:30:00.000Z']);
    expect(at(missing, { missing: 'skip' })).toEqual([]);
    const [first, last] = ['2026-10-25T00:30:00.000Z', '2026-10-25T01:30:00.000Z'];
    expect(at(twice)).toEqual([first]);
    expect(at(twice, { duplicate: 'last' })).toEqual([last]);
    expect(at(twice, { duplicate: 'both' })).toEqual([first, last]);
    // The schedule has all ticks from the first to the last of the two.
    const quarters = { cron: '*/30 * * * *', from: twice, until: twice, ...zone };
    expect(ticks(quarters, '2026-01-01T00:00:00Z', 5)).toEqual([first, '2026-10-25T01:00:00.000Z', last]);
    expect(ticks({ ...quarters, from: missing, until: '2026-03-29T04:00' }, '2026-01-01T00:00:00Z', 5)).toEqual([
      '2026-03-29T01:30:00.000Z',
      '2026-03-29T02:00:00.000Z',
    ]);
  });

  it('are found quickly, also for a tick a second next to a change of the clocks', () => {
    const schedule = scheduleFrom({ cron: '* * * * * *', time_zone: 'Europe/Berlin' });
    expect(schedule.dst.duplicate).toBe('both');
    const seconds = ticks({ cron: '* * * * * *', time_zone: 'Europe/Berlin' }, '2026-10-25T00:59:58Z', 3);
    expect(seconds.map((text) => at(text) - at('2026-10-25T00:59:58Z'))).toEqual([1_000, 2_000, 3_000]);
  });
});
