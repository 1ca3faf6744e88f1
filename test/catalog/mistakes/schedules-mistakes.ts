import type { Mistake } from './mistake.js';

const withSchedule = (schedule: string): string => `types:
  Order: { schema: { type: object, required: [day], properties: { day: { type: string } } } }
schedules:
  daily: ${schedule}
`;
const publishes = "publishes: { type: Order, payload: { day: 'x' } }";

/** Schedules. */
export const SCHEDULES_MISTAKES: Mistake[] = [
  [
    'a cron expression with a wrong field',
    withSchedule(`{ cron: '61 * * * *', ${publishes} }`),
    'error line 4, column 12: schedules.daily.cron: is not a cron expression of five fields, or six with seconds: the minute 61 is not valid; use 0 to 59',
  ],
  [
    'a time as a cron expression',
    withSchedule(`{ cron: 2999-12-24T18:00, ${publishes} }`),
    'error line 4, column 12: schedules.daily.cron: is not a cron expression of five fields, or six with seconds: it is a time, which belongs into at',
  ],
  [
    'a schedule with two kinds of times',
    withSchedule(`{ cron: '0 * * * *', every: 1h, ${publishes} }`),
    'error line 4, column 3: schedules.daily: needs exactly one of cron, every and at',
  ],
  [
    'a schedule without times',
    withSchedule(`{ ${publishes} }`),
    'error line 4, column 3: schedules.daily: needs exactly one of cron, every and at',
  ],
  [
    'a cron expression with too many fields',
    withSchedule(`{ cron: '0 0 7 * * * 2027', ${publishes} }`),
    'error line 4, column 12: schedules.daily.cron: is not a cron expression of five fields, or six with seconds: it has 7 fields',
  ],
  [
    'the start of the machine as a cron expression',
    withSchedule(`{ cron: '@reboot', ${publishes} }`),
    'error line 4, column 12: schedules.daily.cron: is not a cron expression of five fields, or six with seconds: @reboot is not a time',
  ],
  [
    'an `every` without a unit',
    withSchedule(`{ every: 3600, ${publishes} }`),
    'error line 4, column 12: schedules.daily.every: must be a duration of at least 1s, such as 30s, 90m, 12h or 7d',
  ],
  [
    'a `dst` that is no object',
    withSchedule(`{ every: 1h, dst: skip, ${publishes} }`),
    'error line 4, column 23: schedules.daily.dst: must be an object such as { missing: skip, duplicate: last }',
  ],
  [
    'an empty time zone',
    withSchedule(`{ every: 1h, time_zone: '', ${publishes} }`),
    'error line 4, column 23: schedules.daily.time_zone: must be a name of the IANA database such as Europe/Berlin, or an offset such as +02:00',
  ],
  [
    'a time as a time zone',
    withSchedule(`{ every: 1h, time_zone: '2026-01-01T00:00+02:00[Europe/Berlin]', ${publishes} }`),
    'error line 4, column 23: schedules.daily.time_zone: is not a time zone of the IANA database: 2026-01-01T00:00+02:00[Europe/Berlin]; write one such as Europe/Berlin',
  ],
  [
    'a leap second',
    withSchedule(`{ at: '2999-06-30T23:59:60', ${publishes} }`),
    'error line 4, column 12: schedules.daily.at: is not a time; write one such as 2026-12-24, 2026-12-24T18:00 or 2026-12-24T18:00Z',
  ],
  [
    'a date that does not exist',
    withSchedule(`{ at: 2026-02-30, ${publishes} }`),
    'error line 4, column 12: schedules.daily.at: is not a time; write one such as 2026-12-24, 2026-12-24T18:00 or 2026-12-24T18:00Z',
  ],
  [
    'a schedule that never ticks',
    withSchedule(`{ cron: 0 0 30 2 *, ${publishes} }`),
    'error line 4, column 3: schedules.daily: would never tick; change its times, from, until or except',
  ],
  [
    'a schedule whose last time has passed',
    withSchedule(`{ at: [2020-06-30T18:00, 2019-06-30], ${publishes} }`),
    'warning line 4, column 12: schedules.daily.at: is in the past, so the schedule has no further tick; choose a later time',
  ],
  [
    'a schedule that has ended',
    withSchedule(`{ every: 1h, until: 2020-06-30, ${publishes} }`),
    'warning line 4, column 23: schedules.daily.until: is in the past, so the schedule has no further tick; choose a later time',
  ],
  [
    'a schedule that has no time left before its end',
    withSchedule(`{ at: [2020-06-30, 2999-06-30], until: 2999-01-30, ${publishes} }`),
    'warning line 4, column 3: schedules.daily: has no further tick; change its times, until or except',
  ],
  [
    'an unknown time zone',
    withSchedule(`{ cron: 0 0 1 * *, time_zone: Europe/Berlyn, ${publishes} }`),
    'error line 4, column 29: schedules.daily.time_zone: is not a time zone of the IANA database: Europe/Berlyn; write one such as Europe/Berlin',
  ],
  [
    'a schedule with an unknown type',
    withSchedule('{ every: 1h, publishes: { type: Ordr } }'),
    'error line 4, column 36: schedules.daily.publishes.type: is unknown: neither types nor an agent has Ordr; did you mean Order?',
  ],
  [
    'a payload that the type refuses',
    withSchedule('{ at: 2999-12-24, publishes: { type: Order, payload: "{ \'hour\': scheduled_for }" } }'),
    'error line 4, column 54: schedules.daily.publishes.payload: payload.day: is required (for the tick of 2999-12-24T00:00:00.000Z)',
  ],
  [
    'a payload that the type refuses at one of the next ticks',
    withSchedule(
      `{ every: 1d, from: 2999-12-24, publishes: { type: Order, payload: "{ 'day': scheduled_for.startsWith('2999-12-24') ? 1 : scheduled_for }" } }`,
    ),
    'warning line 4, column 67: schedules.daily.publishes.payload: payload.day: must be string (for the tick of 2999-12-24T00:00:00.000Z); this tick will fail',
  ],
  [
    'a payload that the type refuses, whatever the tick',
    withSchedule('{ every: 1h, publishes: { type: Order } }'),
    'error line 4, column 23: schedules.daily.publishes: payload.day: is required',
  ],
  [
    'a payload with the variable of an agent',
    withSchedule('{ every: 1h, publishes: { type: Order, payload: "{ \'day\': payload.day }" } }'),
    'error line 4, column 68: schedules.daily.publishes.payload: names the unknown variable payload; there is scheduled_for',
  ],
  [
    'a misspelt policy of a schedule',
    withSchedule(`{ every: 1h, missed: run_al, ${publishes} }`),
    'error line 4, column 23: schedules.daily.missed: must be one of "run_all", "run_last", "skip"; did you mean "run_all"?',
  ],
  [
    'a misspelt `overlap` of a schedule',
    withSchedule(`{ every: 1h, overlap: skp, ${publishes} }`),
    'error line 4, column 23: schedules.daily.overlap: must be one of "allow", "skip", "queue", "cancel_running"; did you mean "skip"?',
  ],
  [
    'a misspelt key of `dst`',
    withSchedule(`{ every: 1h, dst: { mising: skip }, ${publishes} }`),
    'error line 4, column 30: schedules.daily.dst.mising: is not a known key; did you mean missing?',
  ],
  [
    'a wrong value of `dst`',
    withSchedule(`{ every: 1h, dst: { duplicate: lst }, ${publishes} }`),
    'error line 4, column 30: schedules.daily.dst.duplicate: must be one of "first", "last", "both"; did you mean "last"?',
  ],
  [
    'a `catch_up` without a unit',
    withSchedule(`{ every: 1h, catch_up: 90, ${publishes} }`),
    'error line 4, column 23: schedules.daily.catch_up: must be a duration such as 500ms, 30s, 5m, 2h or 30d',
  ],
  [
    'a `catch_up` of zero',
    withSchedule(`{ every: 1h, catch_up: 0s, ${publishes} }`),
    'error line 4, column 23: schedules.daily.catch_up: must be longer than zero',
  ],
  [
    'a `jitter` that is no duration',
    withSchedule(`{ every: 1h, jitter: some, ${publishes} }`),
    'error line 4, column 23: schedules.daily.jitter: must be a duration such as 500ms, 30s, 5m, 2h or 30d',
  ],
  [
    'a `jitter` that is too long',
    withSchedule(`{ every: 1h, jitter: 9000d, ${publishes} }`),
    'error line 4, column 23: schedules.daily.jitter: must not be longer than 3650d',
  ],
  [
    'an `except` that is no list',
    withSchedule(`{ every: 1h, except: 2026-12-24, ${publishes} }`),
    'error line 4, column 23: schedules.daily.except: must be a list of one or more texts, such as [one, two]',
  ],
  [
    'an exception that is neither a date nor a cron expression',
    withSchedule(`{ every: 1h, except: [2026-12-24, Christmas], ${publishes} }`),
    'error line 4, column 44: schedules.daily.except[1]: is neither a date such as 2026-12-24 nor a cron expression such as "* 12 * * *"',
  ],
  [
    'an exception with a time',
    withSchedule(`{ every: 1h, except: [2026-12-24T18:00], ${publishes} }`),
    'error line 4, column 32: schedules.daily.except[0]: is neither a date such as 2026-12-24 nor a cron expression such as "* 12 * * *"',
  ],
  [
    'exceptions of all times',
    withSchedule(`{ cron: '0 7 * * *', except: ['* 7 * * *'], ${publishes} }`),
    'error line 4, column 3: schedules.daily: would never tick; change its times, from, until or except',
  ],
  [
    'an `until` before `from`',
    withSchedule(`{ every: 1h, from: 2999-12-24, until: 2999-12-23, ${publishes} }`),
    'error line 4, column 41: schedules.daily.until: must not be before from',
  ],
  [
    'an `every` below a second',
    withSchedule(`{ every: 500ms, ${publishes} }`),
    'error line 4, column 12: schedules.daily.every: must not be shorter than 1s',
  ],
];
