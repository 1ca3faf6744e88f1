import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board, type WireArtifact } from './board.js';

const HOUR = 3_600_000;
const CONFIG = `
types: { Report: { schema: { type: object, required: [day], properties: { day: { type: string } } } } }
agents:
  count: { consumes: [{ types: [Due] }], publishes: [{ type: Counted }], engine: { kind: expression, expression: '{"n": 1}' } }
schedules:
  ours: { every: 1h, publishes: { type: Due } }
`;

interface Tick {
  scheduled_for: string;
  local: string;
  state: string;
  cause: string;
  version: number;
  artifact_id: string;
}

/** Uses the whole app over HTTP. The clock is faked and begins at 10:00. */
describe('schedules over HTTP', () => {
  let board: Board;
  let clock: ManualClock;
  beforeEach(async () => {
    clock = new ManualClock();
    board = await Board.start(CONFIG, { clock, settings: { leaseMs: 1000 * HOUR } });
  });
  afterEach(() => board.close());

  const SCHEDULES = '/api/v1/schedules';
  const DAILY = { cron: '0 12 * * *', time_zone: 'Europe/Berlin', publishes: { type: 'Due' } };
  const create = (name: string, options: object) => board.http.post(SCHEDULES).send({ name, options });
  const ticksOf = async (name: string): Promise<Tick[]> =>
    ((await board.http.get(`${SCHEDULES}/${name}/ticks`).expect(200)).body as { ticks: Tick[] }).ticks;

  it('are created, listed, previewed, changed and deleted', async () => {
    const { body } = await create('noon', DAILY).expect(200);
    expect(body).toMatchObject({
      name: 'noon',
      source: 'api',
      version: 1,
      options: DAILY,
      paused_at: null,
      next: { scheduled_for: '2026-11-20T11:00:00.000Z', local: '2026-11-20T12:00:00+01:00' },
    });
    const list = (await board.http.get(SCHEDULES).query({ limit: 1 }).expect(200)).body as {
      items: { name: string }[];
    };
    expect(list).toMatchObject({ items: [{ name: 'noon' }], pagination: { limit: 1, offset: 0, has_more: true } });
    const preview = await board.http.get(`${SCHEDULES}/noon/preview`).query({ count: 2 }).expect(200);
    expect(preview.body).toEqual({
      ticks: [
        { scheduled_for: '2026-11-20T11:00:00.000Z', local: '2026-11-20T12:00:00+01:00' },
        { scheduled_for: '2026-11-21T11:00:00.000Z', local: '2026-11-21T12:00:00+01:00' },
      ],
    });
    const changed = { ...DAILY, cron: '0 18 * * *' };
    expect((await board.http.put(`${SCHEDULES}/noon`).send({ options: changed }).expect(200)).body).toMatchObject({
      version: 2,
      next: { local: '2026-11-20T18:00:00+01:00' },
    });
    // The order of keys does not matter.
    const same = { publishes: changed.publishes, time_zone: changed.time_zone, cron: changed.cron };
    await board.http.put(`${SCHEDULES}/noon`).send({ options: same }).expect(200);
    const deleted = await board.http.delete(`${SCHEDULES}/noon`).expect(200);
    expect(deleted.body).toMatchObject({ version: 2 });
    expect(deleted.body).not.toHaveProperty('next');
    await board.http.get(`${SCHEDULES}/noon`).expect(404, { detail: 'Schedule not found: noon' });
  });

  it('are refused with a sentence that says what to change', async () => {
    const refusal = async (options: object): Promise<unknown[]> => {
      const { status, body } = await create('wrong', options);
      return [status, (body as { detail: string }).detail];
    };
    for (const [cron, reason] of [
      ['61 * * * *', 'the minute 61 is not valid; use 0 to 59'],
      ['0 0 0 * *', 'the day of the month 0 is not valid; use 1 to 31, or L'],
      ['0 0 1,32 * *', 'the day of the month 1,32 is not valid; use 1 to 31, or L'],
      ['0 0 0 * 13 *', 'the month 13 is not valid; use 1 to 12, or JAN to DEC'],
      ['0 7 * * MON-FRY', 'the weekday MON-FRY is not valid; use 0 to 7, or SUN to SAT'],
      ['@every 5m', '@every 5m is none of @hourly, @daily, @weekly, @monthly and @yearly; use every for an interval'],
    ])
      expect(await refusal({ ...DAILY, cron })).toEqual([
        400,
        `options.cron: is not a cron expression of five fields, or six with seconds: ${reason}`,
      ]);
    expect(await refusal({ ...DAILY, every: '1h' })).toEqual([400, 'options: needs exactly one of cron, every and at']);
    expect(await refusal({ ...DAILY, publishes: { type: 'Report' } })).toEqual([
      400,
      expect.stringContaining('options.publishes: '),
    ]);
    await create('ours', DAILY).expect(409);
    await board.http
      .put(`${SCHEDULES}/ours`)
      .send({ options: DAILY })
      .expect(409, { detail: 'Schedule ours is in the configuration file; change it there' });
    await board.http.delete(`${SCHEDULES}/ours`).expect(409);
    await create('..', DAILY).expect(400);
    await board.http.get(`${SCHEDULES}/our`).expect(404, { detail: 'Schedule not found: our; did you mean ours?' });
  });

  it('are refused without a further tick, so that nothing is stored, and tick from now on otherwise', async () => {
    const publishes = { type: 'Due' };
    const refused = (detail: string): object => ({ detail: `options${detail}` });
    const past = 'is in the past, so the schedule has no further tick; choose a later time';
    // 10:00 of the clock. What `missed` makes up for begins with the schedule too.
    const now = '2026-11-20T10:00Z';
    await create('once', { at: now, missed: 'run_all', catch_up: '2d', publishes }).expect(
      400,
      refused(`.at: ${past}`),
    );
    await create('once', { at: ['2026-11-20T09:00Z', '2026-11-19'], publishes }).expect(400, refused(`.at: ${past}`));
    await create('once', { every: '1h', until: '2026-11-19', publishes }).expect(400, refused(`.until: ${past}`));
    await create('once', { cron: '0 12 * * *', until: '2026-11-20T11:00Z', publishes }).expect(
      400,
      refused(': has no further tick; change its times, until or except'),
    );
    await board.http.get(`${SCHEDULES}/once`).expect(404);

    const options = { at: ['2026-11-20T09:00Z', '2026-11-20T11:00Z'], until: '2026-11-20', publishes };
    await create('once', options).expect(200);
    await board.http
      .put(`${SCHEDULES}/once`)
      .send({ options: { ...options, at: now } })
      .expect(400, refused(`.at: ${past}`));
    expect((await board.http.get(`${SCHEDULES}/once`).expect(200)).body).toMatchObject({ version: 1, options });
    clock.advance(HOUR);
    await eventually('its tick', async () => (await ticksOf('once')).length === 1);
    expect(await ticksOf('once')).toMatchObject([{ scheduled_for: '2026-11-20T11:00:00.000Z' }]);
  });

  it('pause and resume, and a backfill publishes what the pause left out, once', async () => {
    await board.http.post(`${SCHEDULES}/ours/pause`).expect(200);
    clock.advance(3 * HOUR + 1_000);
    expect((await board.http.post(`${SCHEDULES}/ours/resume`).expect(200)).body).toMatchObject({
      paused_at: null,
      next: { scheduled_for: '2026-11-20T14:00:00.000Z' },
    });
    const range = { from: '2026-11-20T10:30:00Z', to: '2026-11-20T13:00:00Z' };
    const backfill = async (dry_run: boolean): Promise<string[]> => {
      const { body } = await board.http
        .post(`${SCHEDULES}/ours/backfill`)
        .send({ ...range, dry_run })
        .expect(200);
      return (body as { ticks: Tick[] }).ticks.map(({ scheduled_for }) => scheduled_for.slice(11, 16));
    };
    expect(await backfill(true)).toEqual(['11:00', '12:00', '13:00']);
    expect(await ticksOf('ours')).toEqual([]);
    expect(await backfill(false)).toEqual(['11:00', '12:00', '13:00']);
    expect(await backfill(false)).toEqual([]);
    expect(await ticksOf('ours')).toMatchObject(
      ['13', '12', '11'].map((hour) => ({ scheduled_for: `2026-11-20T${hour}:00:00.000Z`, cause: 'backfill' })),
    );
    clock.advance(HOUR);
    await eventually('the next tick', async () => (await ticksOf('ours')).length === 4);
    await board.http
      .post(`${SCHEDULES}/ours/backfill`)
      .send({ ...range, to: '2030-01-01' })
      .expect(400, { detail: 'to: must not be in the future' });
    await board.http
      .post(`${SCHEDULES}/ours/backfill`)
      .send({ from: range.from })
      .expect(400, { detail: 'to: is required' });
  });

  it('a backfill uses the version of each time', async () => {
    await create('changing', { every: '1h', publishes: { type: 'Due' } }).expect(200);
    await board.http.post(`${SCHEDULES}/changing/pause`).expect(200);
    clock.advance(2 * HOUR + 60_000);
    const options = { cron: '30 * * * *', publishes: { type: 'Due' } };
    await board.http.put(`${SCHEDULES}/changing`).send({ options }).expect(200);
    clock.advance(HOUR);
    const { body } = await board.http
      .post(`${SCHEDULES}/changing/backfill`)
      .send({ from: '2026-11-20T10:30:00Z', to: '2026-11-20T13:00:00Z' })
      .expect(200);
    expect(
      (body as { ticks: Tick[] }).ticks.map(({ scheduled_for, version }) => [scheduled_for.slice(11, 16), version]),
    ).toEqual([
      ['11:00', 1],
      ['12:00', 1],
      ['12:30', 2],
    ]);
  });

  const change = (cron: string) =>
    board.http
      .put(`${SCHEDULES}/changing`)
      .send({ options: { cron, publishes: { type: 'Due' } } })
      .expect(200);

  it('the last change decides, also after the clock was set back before it', async () => {
    await create('changing', { cron: '20 * * * *', publishes: { type: 'Due' } }).expect(200);
    await board.http.post(`${SCHEDULES}/changing/pause`).expect(200);
    clock.advance(HOUR / 2);
    await change('25 * * * *');
    clock.advance(-HOUR / 3);
    await board.http.post(`${SCHEDULES}/changing/resume`).expect(200);
    await change('15,50 * * * *');
    clock.advance(HOUR);
    await eventually('its ticks', async () => (await ticksOf('changing')).length === 2);
    expect((await ticksOf('changing')).map(({ scheduled_for: at, version }) => [at.slice(11, 16), version])).toEqual([
      ['10:50', 3],
      ['10:15', 3],
    ]);
  });

  it('a backfill uses one version of each time, also after the clock was set back', async () => {
    await create('changing', { every: '1h', publishes: { type: 'Due' } }).expect(200);
    await board.http.post(`${SCHEDULES}/changing/pause`).expect(200);
    clock.advance(3 * HOUR);
    await change('30 * * * *');
    clock.advance(-HOUR - 60_000);
    await change('45 * * * *');
    clock.advance(2 * HOUR);
    const { body } = await board.http
      .post(`${SCHEDULES}/changing/backfill`)
      .send({ from: '2026-11-20T10:30:00Z', to: '2026-11-20T13:59:00Z' })
      .expect(200);
    expect(
      (body as { ticks: Tick[] }).ticks.map(({ scheduled_for, version }) => [scheduled_for.slice(11, 16), version]),
    ).toEqual([
      ['11:00', 1],
      ['12:45', 3],
      ['13:45', 3],
    ]);
  });

  it('a backfill and a trigger leave the millisecond of a change to the earlier version', async () => {
    await create('changing', { every: '1h', publishes: { type: 'Due' } }).expect(200);
    await board.http.post(`${SCHEDULES}/changing/pause`).expect(200);
    clock.advance(HOUR);
    const options = { cron: '0,30 * * * *', publishes: { type: 'Due' } };
    await board.http.put(`${SCHEDULES}/changing`).send({ options }).expect(200);
    const other = { cron: '30 * * * *', publishes: { type: 'Due' } };
    await board.http.put(`${SCHEDULES}/changing`).send({ options: other }).expect(200);
    const triggered = (await board.http.post(`${SCHEDULES}/changing/trigger`).expect(200)).body as Tick;
    expect(triggered).toMatchObject({ scheduled_for: '2026-11-20T11:00:00.001Z', version: 3 });
    clock.advance(HOUR);
    const { body } = await board.http
      .post(`${SCHEDULES}/changing/backfill`)
      .send({ from: '2026-11-20T10:30:00Z', to: '2026-11-20T12:00:00Z' })
      .expect(200);
    expect(
      (body as { ticks: Tick[] }).ticks.map(({ scheduled_for, version }) => [scheduled_for.slice(11, 16), version]),
    ).toEqual([
      ['11:00', 1],
      ['11:30', 3],
    ]);
  });

  it('a backfill has no ticks for the time between the deletion of a schedule and a new one of its name', async () => {
    const options = { every: '1h', publishes: { type: 'Due' } };
    await create('again', options).expect(200);
    await board.http.post(`${SCHEDULES}/again/pause`).expect(200);
    clock.advance(HOUR);
    await board.http.delete(`${SCHEDULES}/again`).expect(200);
    clock.advance(2 * HOUR + 60_000);
    await create('again', options).expect(200);
    await board.http.post(`${SCHEDULES}/again/pause`).expect(200);
    clock.advance(HOUR);
    const { body } = await board.http
      .post(`${SCHEDULES}/again/backfill`)
      .send({ from: '2026-11-20T10:30:00Z', to: '2026-11-20T14:00:00Z' })
      .expect(200);
    expect(
      (body as { ticks: Tick[] }).ticks.map(({ scheduled_for, version }) => [scheduled_for.slice(11, 16), version]),
    ).toEqual([
      ['11:00', 1],
      ['14:00', 2],
    ]);
  });

  it('are refused if their payload fails for each of the next five ticks, and not if it fails for some', async () => {
    const failsUntil = (hour: number) => ({
      every: '1h',
      publishes: { type: 'Report', payload: `{ 'day': int(scheduled_for.substring(11, 13)) > ${hour} ? 'x' : 1 }` },
    });
    await create('all', failsUntil(15)).expect(400, {
      detail: 'options.publishes.payload: payload.day: must be string (for the tick of 2026-11-20T11:00:00.000Z)',
    });
    await create('some', failsUntil(14)).expect(200);
  });

  it('a backfill publishes the ticks around one that fails, and says why that one does', async () => {
    const payload = "{ 'day': scheduled_for, 'part': 1 / (scheduled_for.contains('T08') ? 0 : 1) }";
    await create('odd', { every: '1h', publishes: { type: 'Report', payload } }).expect(200);
    const range = { from: '2026-11-20T07:00:00Z', to: '2026-11-20T09:00:00Z' };
    const failed = { state: 'failed', reason: 'the expression fails: int divide by zero' };
    const wanted = [{ state: 'published' }, failed, { state: 'published' }];
    for (const dry_run of [true, false]) {
      const request = board.http.post(`${SCHEDULES}/odd/backfill`).send({ ...range, dry_run });
      expect(((await request.expect(200)).body as { ticks: Tick[] }).ticks).toMatchObject(wanted);
      expect(await ticksOf('odd')).toHaveLength(dry_run ? 0 : 3);
    }
    expect(await ticksOf('odd')).toMatchObject(wanted);
    const before1970 = { ...range, from: '1969-12-31' };
    await board.http
      .post(`${SCHEDULES}/odd/backfill`)
      .send(before1970)
      .expect(400, { detail: 'from: must not be before 1970, because the ids of ticks have their times' });
  });

  it('a preview and a backfill end when they have searched for too long, and other requests are answered', async () => {
    const except = ['1-59 0-58 * * * *', '* 59 * * * *', '0 1-58 * * * *'];
    await create('rare', { every: '1s', except, publishes: { type: 'Due' } }).expect(200);
    const { body } = await board.http.get(`${SCHEDULES}/rare/preview`).query({ count: 1000 }).expect(200);
    const { length } = (body as { ticks: Tick[] }).ticks;
    expect(length).toBeGreaterThan(0);
    expect(length).toBeLessThan(1_000);
  });

  it('a backfill takes dates as whole days in the time zone of the schedule', async () => {
    await create('late', { cron: '30 0,23 * * *', time_zone: 'Europe/Berlin', publishes: { type: 'Due' } }).expect(200);
    const days = async (from: string, to: string): Promise<string[]> => {
      const request = board.http.post(`${SCHEDULES}/late/backfill`).send({ from, to, dry_run: true });
      return ((await request.expect(200)).body as { ticks: Tick[] }).ticks.map(({ local }) => local.slice(5, 16));
    };
    const both = ['11-17T00:30', '11-17T23:30', '11-18T00:30', '11-18T23:30'];
    expect(await days('2026-11-17', '2026-11-18')).toEqual(both);
    expect(await days('2026-11-18', '2026-11-18')).toEqual(both.slice(2));
    // Today has the ticks that have passed.
    expect(await days('2026-11-20', '2026-11-20')).toEqual(['11-20T00:30']);
    expect(await days('2026-11-17T00:00', '2026-11-18T00:00Z')).toEqual(both.slice(1, 3));
    for (const to of ['2026-11-21', '2026-11-20T10:01Z'])
      await board.http
        .post(`${SCHEDULES}/late/backfill`)
        .send({ from: '2026-11-17', to })
        .expect(400, { detail: 'to: must not be in the future' });
  });

  it('a backfill publishes at most 1,000 ticks', async () => {
    const options = { every: '1s', publishes: { type: 'Due' } };
    await create('secondly', options).expect(200);
    const backfill = (from: string) =>
      board.http.post(`${SCHEDULES}/secondly/backfill`).send({ from, to: '2026-11-20T09:59:59Z', dry_run: true });
    await backfill('2026-11-20T09:43:19Z').expect(400, {
      detail: 'to: more than 1,000 ticks are between from and to; choose less time',
    });
    const { body } = await backfill('2026-11-20T09:43:20Z').expect(200);
    expect((body as { ticks: Tick[] }).ticks).toHaveLength(1_000);
  });

  it('list their ticks in pages, the latest first', async () => {
    clock.advance(5 * HOUR);
    await eventually('five ticks', async () => (await ticksOf('ours')).length === 5);
    const page = async (query: object) =>
      (await board.http.get(`${SCHEDULES}/ours/ticks`).query(query).expect(200)).body as {
        ticks: Tick[];
        pagination: { next: string | null };
      };
    const hours: string[][] = [];
    let after: string | undefined;
    do {
      const { ticks, pagination } = await page({ limit: 2, state: 'published', after });
      expect(pagination).toMatchObject({ limit: 2, after: after ?? null, has_more: pagination.next !== null });
      hours.push(ticks.map(({ scheduled_for }) => scheduled_for.slice(11, 13)));
      // A tick that comes meanwhile is not on a later page.
      clock.advance(HOUR);
      const count = 5 + hours.length;
      await eventually('another tick', async () => (await ticksOf('ours')).length === count);
      after = pagination.next ?? undefined;
    } while (after !== undefined);
    expect(hours).toEqual([['15', '14'], ['13', '12'], ['11']]);
    expect((await page({ limit: 8 })).pagination).toEqual({ limit: 8, after: null, next: null, has_more: false });
    await board.http
      .get(`${SCHEDULES}/ours/ticks`)
      .query({ after: '2' })
      .expect(400, { detail: 'after: must be next of an earlier page with the same filters (got "2")' });
  });

  it('a trigger publishes a tick of this moment, also of a paused schedule', async () => {
    await board.http.post(`${SCHEDULES}/ours/pause`).expect(200);
    clock.advance(60_000);
    const tick = (await board.http.post(`${SCHEDULES}/ours/trigger`).expect(200)).body as Tick;
    expect(tick).toMatchObject({ scheduled_for: '2026-11-20T10:01:00.000Z', cause: 'trigger', state: 'published' });
    const { body } = await board.http.get(`/api/v1/artifacts/${tick.artifact_id}`).expect(200);
    expect(body as WireArtifact).toMatchObject({ produced_by: 'schedule', tags: ['schedule:ours'] });
  });

  it('triggers of the same moment publish a tick each, and leave the time of the schedule to its own tick', async () => {
    const trigger = async (): Promise<Tick> =>
      (await board.http.post(`${SCHEDULES}/ours/trigger`).expect(200)).body as Tick;
    clock.advance(HOUR);
    await eventually('its own tick', async () => (await ticksOf('ours')).length === 1);
    const triggered = await Promise.all([trigger(), trigger(), trigger()]);
    expect(triggered.map(({ scheduled_for }) => scheduled_for).sort()).toEqual(
      ['001', '002', '003'].map((ms) => `2026-11-20T11:00:00.${ms}Z`),
    );
    for (const { artifact_id } of triggered) await board.http.get(`/api/v1/artifacts/${artifact_id}`).expect(200);
    expect(await ticksOf('ours')).toHaveLength(4);
  });
});
