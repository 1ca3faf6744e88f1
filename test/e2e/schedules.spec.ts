import { CleanedBoard } from '../retention/cleaned-board.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { SteppedClock } from '../support/stepped-clock.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { Board, type WireArtifact } from './board.js';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const agents = `
types: { Report: { schema: { type: object, required: [day], properties: { day: { type: string } }, additionalProperties: false } }, Brief: { retain: 1d } }
agents:
  gate: { consumes: [{ types: [Gated] }], publishes: [{ type: Passed }], engine: { kind: function, module: ./gate.js }, concurrency: 50, timeout: 24h }
  echo: { consumes: [{ types: [Report] }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"day": payload.day}' } }
  count: { consumes: [{ types: [Due] }], publishes: [{ type: Counted }], engine: { kind: expression, expression: '{"at": payload.scheduled_for}' } }
`;

/** Uses the whole app over HTTP, stopped and started again on one database. The clock is faked and begins at 10:00. */
describe('a schedule of the configuration file', () => {
  let folder: ConfigurationFolder;
  let clock: ManualClock;
  let board: Board;

  const start = async (schedules: string, file = agents): Promise<void> => {
    board = await Board.start(`${file}schedules:\n${schedules}`, {
      clock,
      folder: folder.path,
      files: { 'gate.js': GATE },
      settings: { shutdownGraceMs: 0, leaseMs: 1000 * HOUR },
    });
  };
  const restart = async (schedules: string): Promise<void> => {
    await board.close();
    await start(schedules);
  };

  beforeEach(() => {
    folder = new ConfigurationFolder();
    clock = new ManualClock();
  });

  afterEach(async () => {
    await board.close();
    await board.app.database.drop();
    folder.remove();
  });

  const published = async (name: string): Promise<WireArtifact[]> => {
    const { body } = await board.http
      .get('/api/v1/artifacts')
      .query({ produced_by: 'schedule', limit: 500 })
      .expect(200);
    return (body as { items: WireArtifact[] }).items.filter(({ tags }) => tags.includes(`schedule:${name}`));
  };
  interface Decided {
    scheduled_for: number;
    state: string;
    reason: string | null;
    version: number;
    decided_at: number;
  }
  const decided = async (name: string): Promise<Decided[]> =>
    (await board.app.database.rows(
      `select scheduled_for, state, reason, version, decided_at from schedule_ticks where schedule = '${name}' order by scheduled_for`,
    )) as unknown as Decided[];
  const timesOf = async (name: string, state = 'published'): Promise<string[]> =>
    (await decided(name))
      .filter((tick) => tick.state === state)
      .map(({ scheduled_for }) => new Date(Number(scheduled_for)).toISOString().slice(11, 16));
  const ticked = (name: string, count: number): Promise<void> =>
    eventually(`${name} has decided ${count} ticks`, async () => (await decided(name)).length === count);

  it('publishes an artifact for each tick, once, with an id of its time', async () => {
    await start(
      `  daily: { cron: '0 12 * * *', publishes: { type: Report, payload: "{ 'day': scheduled_for }", tags: [a], partition_key: sales } }`,
    );
    clock.advance(2 * HOUR);
    await ticked('daily', 1);
    const [artifact] = await published('daily');
    expect(artifact).toMatchObject({
      type: 'Report',
      payload: { day: '2026-11-20T12:00:00.000Z' },
      produced_by: 'schedule',
      tags: ['schedule:daily', 'a'],
      partition_key: 'sales',
    });
    const noon = Date.UTC(2026, 10, 20, 12);
    expect(parseInt(artifact!.id.replaceAll('-', '').slice(0, 12), 16)).toBe(noon);
    expect(artifact!.id[14]).toBe('7');
    expect(await board.ended(artifact!.correlation_id)).toMatchObject({ state: 'completed', artifact_count: 2 });
    clock.advance(24 * HOUR);
    await ticked('daily', 2);
    const all = await published('daily');
    expect(new Set(all.map(({ correlation_id }) => correlation_id)).size).toBe(2);
  });

  it('makes up for what was missed while no process ran, as `missed` and `catch_up` say', async () => {
    const schedules = (['run_all', 'run_last', 'skip'] as const)
      .map((missed) => `  ${missed}: { every: 1h, missed: ${missed}, catch_up: 3h, publishes: { type: Due } }`)
      .join('\n');
    await start(schedules);
    clock.advance(HOUR);
    for (const name of ['run_all', 'run_last', 'skip']) await ticked(name, 1);
    await board.close();
    clock.advance(5 * HOUR + 30 * MINUTE);
    await start(schedules);
    for (const name of ['run_all', 'run_last', 'skip']) await ticked(name, 6);
    expect(await timesOf('run_all')).toEqual(['11:00', '14:00', '15:00', '16:00']);
    expect(await timesOf('run_all', 'skipped')).toEqual(['12:00', '13:00']);
    expect(await timesOf('run_last')).toEqual(['11:00', '16:00']);
    expect(await timesOf('skip')).toEqual(['11:00']);
    expect((await decided('skip')).map(({ reason }) => reason)).toEqual([
      null,
      ...Array(2).fill('missed, and older than catch_up'),
      ...Array(3).fill('missed'),
    ]);
    clock.advance(30 * MINUTE);
    for (const name of ['run_all', 'run_last', 'skip']) await ticked(name, 7);
    expect(await timesOf('skip')).toEqual(['11:00', '17:00']);
    const skipped = await board.http.get('/api/v1/schedules/run_last/ticks').query({ state: 'skipped' }).expect(200);
    expect((skipped.body as { ticks: object[] }).ticks).toMatchObject(
      ['15', '14', '13', '12'].map((hour) => ({ scheduled_for: `2026-11-20T${hour}:00:00.000Z`, state: 'skipped' })),
    );
    await board.http
      .get('/api/v1/schedules/run_last/ticks')
      .query({ state: 'missed' })
      .expect(400, { detail: 'state: must be one of published, queued, skipped, failed' });
  });

  it('skips all ticks that are older than a `catch_up` below one minute', async () => {
    const schedules = `  often: { every: 5s, catch_up: 20s, publishes: { type: Due } }`;
    await start(schedules);
    await board.close();
    clock.advance(95_000);
    await start(schedules);
    await ticked('often', 19);
    const ticks = await decided('often');
    expect(ticks.map(({ state }) => state)).toEqual([...Array(14).fill('skipped'), ...Array(5).fill('published')]);
    expect(ticks[13]!.reason).toBe('missed, and older than catch_up');
  });

  it('publishes once a day through both changes of the clocks, also if the process starts again on that day', async () => {
    const zone = 'time_zone: America/New_York, publishes: { type: Due }';
    const schedules = [
      `  spring: { cron: '30 2 * * *', from: 2027-03-13, until: 2027-03-15, ${zone} }`,
      `  autumn: { cron: '30 1 * * *', from: 2027-11-06, until: 2027-11-08, ${zone} }`,
    ].join('\n');
    await start(schedules);
    for (const [name, firstDay] of [
      ['spring', Date.UTC(2027, 2, 13)],
      ['autumn', Date.UTC(2027, 10, 6)],
    ] as const) {
      clock.advance(firstDay - clock.now());
      for (const day of [1, 2, 3]) {
        clock.advance(3 * HOUR);
        await restart(schedules);
        clock.advance(21 * HOUR);
        await ticked(name, day);
      }
    }
    // 02:30 does not exist on 14 March, and 01:30 comes twice on 7 November.
    expect(await timesOf('spring')).toEqual(['07:30', '07:30', '06:30']);
    expect(await timesOf('autumn')).toEqual(['05:30', '05:30', '06:30']);
    expect(await published('spring')).toHaveLength(3);
    expect(await published('autumn')).toHaveLength(3);
  });

  it('loses and doubles nothing when the clock is set forth and back by two hours', async () => {
    await start(`  hourly: { every: 1h, publishes: { type: Due } }`);
    clock.advance(HOUR);
    await ticked('hourly', 1);
    clock.advance(2 * HOUR);
    await ticked('hourly', 3);
    clock.advance(-2 * HOUR);
    await restart(`  hourly: { every: 1h, publishes: { type: Due } }`);
    clock.advance(2 * HOUR + 30 * MINUTE);
    clock.advance(30 * MINUTE);
    await ticked('hourly', 4);
    expect(await timesOf('hourly')).toEqual(['11:00', '12:00', '13:00', '14:00']);
    expect(await published('hourly')).toHaveLength(4);
  });

  it('loses and doubles no tick of a cron expression when the clock of a process is set forth and back by two hours', async () => {
    const stepped = new SteppedClock();
    clock = stepped;
    const rules = "cron: '0 0 * * * *', time_zone: Asia/Tokyo, publishes: { type: Due }";
    await start(`  all: { ${rules} }\n  last: { ${rules}, missed: run_last }\n  none: { ${rules}, missed: skip }`);
    const names = ['all', 'last', 'none'];
    const allTicked = async (count: number): Promise<void> => {
      for (const name of names) await ticked(name, count);
    };
    clock.advance(HOUR);
    await allTicked(1);
    stepped.step(2 * HOUR);
    await allTicked(3);
    stepped.step(-2 * HOUR);
    // Its ticks show that the hours which come again have passed.
    await board.http
      .post('/api/v1/schedules')
      .send({ name: 'again', options: { cron: '30 * * * *', publishes: { type: 'Due' } } })
      .expect(200);
    for (let hours = 1; hours <= 2; hours += 1) {
      clock.advance(HOUR);
      await ticked('again', hours);
    }
    clock.advance(HOUR);
    await allTicked(4);
    stepped.step(-2 * HOUR);
    stepped.step(2 * HOUR);
    clock.advance(HOUR);
    await allTicked(5);

    expect(await timesOf('all')).toEqual(['11:00', '12:00', '13:00', '14:00', '15:00']);
    for (const name of ['last', 'none']) {
      expect(await timesOf(name)).toEqual(['11:00', '13:00', '14:00', '15:00']);
      expect(await timesOf(name, 'skipped')).toEqual(['12:00']);
    }
    for (const name of names) expect(await published(name)).toHaveLength((await timesOf(name)).length);
    expect(await timesOf('again')).toEqual(['11:30', '12:30', '13:30', '14:30']);
  });

  it('decides the ticks that an earlier version missed by that version', async () => {
    await start(`  changing: { cron: '0 * * * *', publishes: { type: Due } }`);
    clock.advance(HOUR);
    await ticked('changing', 1);
    await board.close();
    clock.advance(2 * HOUR + 15 * MINUTE);
    await start(`  changing: { cron: '30 * * * *', publishes: { type: Due } }`);
    await ticked('changing', 3);
    clock.advance(15 * MINUTE);
    await ticked('changing', 4);
    expect((await decided('changing')).map(({ version }) => Number(version))).toEqual([1, 1, 1, 2]);
    expect(await timesOf('changing')).toEqual(['11:00', '12:00', '13:00', '13:30']);
    await restart(`  other: { every: 1h, publishes: { type: Due } }`);
    clock.advance(2 * HOUR);
    await eventually('the other ticks', async () => (await decided('other')).length > 0);
    expect(await decided('changing')).toHaveLength(4);
  });

  it('fails the missed ticks of a type that was renamed, and continues with the new version', async () => {
    const without = agents.replace('Brief: { retain: 1d }', 'Renamed: {}');
    await start('  changing: { every: 1h, publishes: { type: Brief } }');
    await board.http
      .post('/api/v1/schedules')
      .send({ name: 'old', options: { every: '1h', publishes: { type: 'Brief' } } })
      .expect(200);
    clock.advance(HOUR);
    for (const name of ['changing', 'old']) await ticked(name, 1);
    await board.close();
    clock.advance(2 * HOUR + 30 * MINUTE);
    await start('  changing: { every: 1h, publishes: { type: Renamed } }', without);
    for (const name of ['changing', 'old']) await ticked(name, 3);
    clock.advance(30 * MINUTE);
    for (const name of ['changing', 'old']) await ticked(name, 4);
    const reason = 'the configuration does not have the type Brief';
    expect(await decided('changing')).toMatchObject([
      { state: 'published', version: 1 },
      { state: 'failed', version: 1, reason },
      { state: 'failed', version: 1, reason },
      { state: 'published', version: 2 },
    ]);
    expect((await decided('old')).map(({ state }) => state)).toEqual(['published', 'failed', 'failed', 'failed']);

    await board.http
      .post('/api/v1/schedules/old/trigger')
      .expect(400, { detail: `The tick cannot be published: ${reason}` });
    const { body } = await board.http
      .post('/api/v1/schedules/changing/backfill')
      .send({ from: '2026-11-20T10:30:00Z', to: '2026-11-20T14:00:00Z' })
      .expect(200);
    expect((body as { ticks: object[] }).ticks).toMatchObject([
      { scheduled_for: '2026-11-20T12:00:00.000Z', version: 1, state: 'failed', reason },
      { scheduled_for: '2026-11-20T13:00:00.000Z', version: 1, state: 'failed', reason },
    ]);
  });

  it('publishes a queued tick as the version says that has queued it', async () => {
    const queue = (rules: string): string => `  changing: { overlap: queue, ${rules} }`;
    await start(queue(`every: 1h, publishes: { type: Gated, payload: { n: 1, batch: version }, tags: [earlier] }`));
    clock.advance(HOUR);
    await started('version', 1);
    clock.advance(HOUR);
    await ticked('changing', 2);
    await restart(queue('cron: 30 5 * * *, publishes: { type: Brief, tags: [later] }'));
    await started('version', 2);
    gatesOf('version').at(-1)!.open();
    await board.ended((await published('changing'))[0]!.correlation_id);
    await eventually('the queued tick is published', async () => {
      clock.advance(1_000);
      return (await timesOf('changing')).length === 2;
    });
    expect(await decided('changing')).toMatchObject([{ version: 1 }, { version: 1 }]);
    expect((await published('changing')).map(({ type, tags }) => [type, tags[1]])).toEqual(
      Array(2).fill(['Gated', 'earlier']),
    );
  });

  it('gives a tick at the millisecond of a change to the earlier version, once', async () => {
    await start(`  changing: { every: 1h, publishes: { type: Due, tags: [earlier] } }`);
    await board.close();
    clock.advance(HOUR);
    await start(`  changing: { every: 30m, publishes: { type: Due, tags: [later] } }`);
    await ticked('changing', 1);
    clock.advance(30 * MINUTE);
    await ticked('changing', 2);
    expect((await decided('changing')).map(({ version }) => Number(version))).toEqual([1, 2]);
    expect(await timesOf('changing')).toEqual(['11:00', '11:30']);
    const tags = (await published('changing')).flatMap(({ tags }) => tags.slice(1));
    expect(tags.sort()).toEqual(['earlier', 'later']);
  });

  it('overlaps as it says: skip, queue, cancel_running or allow', async () => {
    const policies = ['skip', 'queue', 'cancel_running', 'allow'];
    await start(
      policies
        .map(
          (overlap) =>
            `  ${overlap}: { every: 1h, overlap: ${overlap}, publishes: { type: Gated, payload: { n: 1, batch: ${overlap} } } }`,
        )
        .join('\n'),
    );
    clock.advance(HOUR);
    for (const name of policies) await started(name, 1);
    clock.advance(HOUR);
    for (const name of policies) await ticked(name, 2);
    await started('cancel_running', 2);
    await started('allow', 2);
    expect((await decided('skip'))[1]).toMatchObject({ state: 'skipped' });
    expect((await decided('skip'))[1]!.reason).toMatch(/^correlation \S+ of an earlier tick is still active$/);
    expect((await decided('queue'))[1]).toMatchObject({ state: 'queued' });
    const [second, first] = await published('cancel_running');
    const states = await Promise.all(
      [first!, second!].map(async ({ correlation_id }) => (await board.status(correlation_id)).state),
    );
    expect(states.sort()).toEqual(['active', 'cancelled']);
    gatesOf('queue')[0]!.open();
    await board.ended((await published('queue'))[0]!.correlation_id);
    await eventually('the queued tick is published', async () => {
      clock.advance(1_000);
      return (await timesOf('queue')).length === 2;
    });
    await started('queue', 2);
  });

  it('skips while an earlier tick is active, however many were skipped or triggered since', async () => {
    const SINCE = 110;
    const skip = (publishes: string): string => `  long: { every: 1m, overlap: skip, publishes: ${publishes} }`;
    await start(skip('{ type: Gated, payload: { n: 1, batch: long } }'));
    clock.advance(MINUTE);
    await started('long', 1);
    clock.advance(SINCE * MINUTE);
    await ticked('long', 1 + SINCE);
    expect(await timesOf('long')).toEqual(['10:01']);
    // Triggers publish whatever `overlap` says.
    await restart(skip('{ type: Brief }'));
    await started('long', 2);
    for (let n = 0; n < SINCE; n += 1) await board.http.post('/api/v1/schedules/long/trigger').expect(200);
    clock.advance(MINUTE);
    await ticked('long', 2 + 2 * SINCE);
    expect((await decided('long')).at(-1)).toMatchObject({ state: 'skipped' });

    gatesOf('long').at(-1)!.open();
    await board.ended((await published('long')).at(-1)!.correlation_id);
    clock.advance(MINUTE);
    await ticked('long', 3 + 2 * SINCE);
    expect((await decided('long')).at(-1)).toMatchObject({ state: 'published' });
  });

  it('queues at most 1,000 ticks, and skips further ones', async () => {
    await start(`  full: { every: 1s, overlap: queue, publishes: { type: Gated, payload: { n: 1, batch: full } } }`);
    clock.advance(1_000);
    await started('full', 1);
    clock.advance(1_010_000);
    await ticked('full', 1_011);
    const ticks = await decided('full');
    expect(ticks.map(({ state }) => state)).toEqual([
      'published',
      ...Array<string>(1_000).fill('queued'),
      ...Array<string>(10).fill('skipped'),
    ]);
    expect(new Set(ticks.slice(-10).map(({ reason }) => reason))).toEqual(new Set(['1000 ticks are queued']));
  }, 60_000);

  it('stays paused over a restart', async () => {
    const rules = `every: 1h, publishes: { type: Due }`;
    const both = `  paused: { ${rules} }\n  other: { ${rules} }`;
    await start(both);
    await board.http.post('/api/v1/schedules/paused/pause').expect(200);
    await restart(both);
    clock.advance(2 * HOUR);
    await ticked('other', 2);
    expect(await decided('paused')).toEqual([]);
    await board.http.post('/api/v1/schedules/paused/resume').expect(200);
    clock.advance(HOUR);
    await ticked('paused', 1);
    expect(await timesOf('paused')).toEqual(['13:00']);
  });

  it('skips the queued ticks of a schedule that is removed, so that a later one of its name does not publish them', async () => {
    const options = 'every: 1h, overlap: queue, publishes: { type: Gated, payload: { n: 1, batch: again } }';
    await start(`  again: { ${options} }`);
    clock.advance(HOUR);
    await started('again', 1);
    clock.advance(HOUR);
    await ticked('again', 2);
    expect((await decided('again'))[1]).toMatchObject({ state: 'queued' });
    await restart(`  other: { every: 1h, publishes: { type: Due } }`);
    await restart(`  again: { ${options} }`);
    expect(await decided('again')).toMatchObject([
      { state: 'published' },
      { state: 'skipped', reason: 'the schedule was deleted' },
    ]);
  });

  it('records a tick whose payload cannot be made, and continues', async () => {
    await start(
      `  odd: { every: 1h, publishes: { type: Report, payload: "scheduled_for.contains('T12') ? { 'n': 1 } : { 'day': scheduled_for }" } }`,
    );
    clock.advance(HOUR);
    await ticked('odd', 1);
    clock.advance(HOUR);
    await ticked('odd', 2);
    clock.advance(HOUR);
    await ticked('odd', 3);
    expect((await decided('odd')).map(({ state }) => state)).toEqual(['published', 'failed', 'published']);
    expect((await decided('odd'))[1]!.reason).toMatch(/day/);
  });

  it('publishes later by its jitter, and keeps the time of the tick', async () => {
    await start(`  jittery: { every: 1h, jitter: 30m, publishes: { type: Due } }`);
    clock.advance(HOUR - 1);
    clock.advance(30 * MINUTE + 1);
    await ticked('jittery', 1);
    const [artifact] = await published('jittery');
    expect(artifact!.payload).toEqual({ scheduled_for: '2026-11-20T11:00:00.000Z' });
  });

  /** Continues on a new database, at 10:00 again. */
  const startOver = async (schedules: string): Promise<void> => {
    await board.close();
    await board.app.database.drop();
    folder.remove();
    folder = new ConfigurationFolder();
    clock = new ManualClock();
    await start(schedules);
  };

  it('has a delay for each tick, up to its jitter, which a restart does not change', async () => {
    const names = Array.from({ length: 6 }, (_, index) => `j${index}`);
    const schedules = [
      '  minutely: { every: 1m, publishes: { type: Due } }',
      ...names.map((name) => `  ${name}: { cron: '5,30 10 * * *', jitter: 20m, publishes: { type: Due } }`),
    ].join('\n');
    /** Returns the minutes from each tick until it is published. The process stops at `restartAt` and starts again. */
    const delays = async (restartAt: number): Promise<number[]> => {
      for (let minute = 1; minute <= 50; minute += 1) {
        clock.advance(MINUTE);
        // Ticks are published in the order of their times, so all that were due before this one are published.
        await ticked('minutely', minute);
        if (minute === restartAt) await restart(schedules);
      }
      const minutes: number[] = [];
      for (const name of names)
        for (const { decided_at, scheduled_for } of await decided(name))
          minutes.push((Number(decided_at) - Number(scheduled_for)) / MINUTE);
      return minutes;
    };
    await start(schedules);
    const first = await delays(NaN);
    expect(first).toHaveLength(2 * names.length);
    expect(Math.min(...first)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...first)).toBeLessThanOrEqual(20);
    expect(new Set(first).size).toBeGreaterThan(names.length);
    await startOver(schedules);
    expect(await delays(15)).toEqual(first);
  });

  it('gives a tick the same id in every database, and those of other schedules and times other ids', async () => {
    const schedules = ['one', 'other'].map((name) => `  ${name}: { every: 1h, publishes: { type: Due } }`).join('\n');
    const ids = async (): Promise<string[]> => {
      clock.advance(2 * HOUR);
      const found: string[] = [];
      for (const name of ['one', 'other']) {
        await ticked(name, 2);
        found.push(...(await published(name)).map(({ id }) => id).sort());
      }
      return found;
    };
    await start(schedules);
    const first = await ids();
    const times = first.map((id) => parseInt(id.replaceAll('-', '').slice(0, 12), 16));
    const hashes = first.map((id) => id.slice(15));
    expect(times).toEqual([11, 12, 11, 12].map((hour) => Date.UTC(2026, 10, 20, hour)));
    expect(new Set(hashes).size).toBe(4);
    expect(first).toEqual(first.map(() => expect.stringMatching(/^.{14}7.{4}[89ab]/) as string));
    await startOver(schedules);
    expect(await ids()).toEqual(first);
  });

  it('publishes a tick once, also when retention has deleted its artifact', async () => {
    const schedules = '  brief: { every: 12h, publishes: { type: Brief } }';
    await start(schedules);
    clock.advance(2 * HOUR);
    await ticked('brief', 1);
    const [artifact] = await published('brief');
    await board.ended(artifact!.correlation_id);
    await board.http.post('/api/v1/schedules/brief/pause').expect(200);
    const cleaned = new CleanedBoard(board, clock);
    await cleaned.cleanUpAfter(2);
    await board.http.get(`/api/v1/artifacts/${artifact!.id}`).expect(404);

    await restart(schedules);
    const answer = await board.http
      .post('/api/v1/schedules/brief/backfill')
      .send({ from: '2026-11-20T10:00:00Z', to: '2026-11-21T00:00:00Z' })
      .expect(200);
    const times = (answer.body as { ticks: { scheduled_for: string }[] }).ticks;
    expect(times).toMatchObject([{ scheduled_for: '2026-11-21T00:00:00.000Z' }]);
    expect((await published('brief')).map(({ id }) => id)).not.toContain(artifact!.id);
    const { body } = await board.http.get('/api/v1/schedules/brief/ticks').expect(200);
    expect((body as { ticks: object[] }).ticks).toMatchObject([
      { scheduled_for: '2026-11-21T00:00:00.000Z' },
      { scheduled_for: '2026-11-20T12:00:00.000Z', state: 'published', artifact_id: artifact!.id },
    ]);
  });

  it('publishes no tick again when it comes back to the file and the clock was set back', async () => {
    const hourly = '  hourly: { every: 1h, publishes: { type: Due } }';
    await start(hourly);
    clock.advance(HOUR);
    await ticked('hourly', 1);
    await restart('  other: { every: 1h, publishes: { type: Due } }');
    clock.advance(-HOUR);
    await restart(hourly);
    clock.advance(HOUR);
    clock.advance(HOUR);
    await ticked('hourly', 2);
    expect(await timesOf('hourly')).toEqual(['11:00', '12:00']);
    expect(await published('hourly')).toHaveLength(2);
  });

  it('decides more than 1,000 missed ticks, in parts between which others continue', async () => {
    const MISSED = 1_010;
    const schedules = (['run_all', 'skip'] as const)
      .map((missed) => `  ${missed}: { every: 1s, missed: ${missed}, publishes: { type: Brief } }`)
      .concat(`  other: { cron: '15 10 * * *', publishes: { type: Brief } }`)
      .join('\n');
    await start(schedules);
    clock.advance(1_000);
    for (const name of ['run_all', 'skip']) await ticked(name, 1);
    await board.close();
    // The last minute of ticks is not missed.
    clock.advance(MISSED * 1_000 + MINUTE);
    await start(schedules);
    for (const name of ['run_all', 'skip']) await ticked(name, MISSED + 61);
    expect(await timesOf('run_all')).toHaveLength(MISSED + 61);
    expect(await timesOf('skip', 'skipped')).toHaveLength(MISSED - 1);
    // Rows have the order of their transactions. A part of 1,000 is one of ticks that are skipped.
    const rows = await board.app.database.rows<{ schedule: string }>(
      `select schedule from schedule_ticks where state = 'published' order by seq`,
    );
    expect(rows.findIndex(({ schedule }) => schedule === 'other')).toBeLessThan(10);
  });
});
