import { UnitOfWork } from '../../src/database/unit-of-work.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { Board } from './board.js';

const MINUTE = 60_000;

const CONFIG = `
agents:
  gate: { consumes: [{ types: [Gated] }], publishes: [{ type: Passed }], engine: { kind: function, module: ./gate.js }, concurrency: 50, timeout: 24h }
  echo: { consumes: [{ types: [Order, Passed] , mode: any }], publishes: [{ type: Done }], engine: { kind: expression, expression: '{"n": payload.n}' } }
  pair: { consumes: [{ types: [Left, Right], join: { by: payload.key } }], publishes: [{ type: Joined }], engine: { kind: expression, expression: '{"from": inputs.map(input, input.correlation_id)}' } }
`;

/** Uses the whole app over HTTP, stopped and started again on one database. The clock is faked. */
describe('a deadline', () => {
  const folder = new ConfigurationFolder();
  const clock = new ManualClock();
  let board: Board;

  const start = async (): Promise<void> => {
    board = await Board.start(CONFIG, {
      clock,
      folder: folder.path,
      files: { 'gate.js': GATE },
      settings: { shutdownGraceMs: 0, leaseMs: 24 * 60 * MINUTE },
    });
  };

  beforeAll(start);

  afterAll(async () => {
    await board.close();
    await board.app.database.drop();
    folder.remove();
  });

  /**
   * Publishes an artifact whose agent waits for the test, in a correlation of this name, and waits until its agent
   * runs.
   */
  const publishGated = async (correlation: string, deadline: string | undefined): Promise<void> => {
    await board.publish('Gated', { n: 1, batch: correlation }, { correlation, ...(deadline && { deadline }) });
    await started(correlation, 1);
  };
  const timers = async (): Promise<number> =>
    (await board.app.database.rows(`select id from timers where kind = 'deadline'`)).length;

  it('cancels unfinished work when it has passed, and not before', async () => {
    await publishGated('c1', 'PT5M');
    clock.advance(5 * MINUTE - 2);
    // Timers fire in the order of their times, so the deadline would have fired before this one if it were due.
    await board.publish('Order', { n: 1 }, { correlation: 'between', visibility: { kind: 'After', ttl: 'PT0.001S' } });
    clock.advance(1);
    await board.ended('between');
    expect(await board.status('c1')).toMatchObject({ state: 'active' });
    clock.advance(1);
    expect(await board.ended('c1')).toMatchObject({ state: 'cancelled', has_pending_work: false, error_count: 0 });
    await eventually('the agent has been aborted', () => gatesOf('c1')[0]!.isAborted);
    const { status, body } = await board.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', 'c1')
      .send({ type: 'Order', payload: { n: 2 } });
    expect([status, body]).toEqual([
      409,
      { detail: 'Correlation c1 has ended and takes no more artifacts; publish into another one' },
    ]);
    expect(await timers()).toBe(0);
  });

  it('is deleted when its correlation finishes in time, and keeps nothing open', async () => {
    await publishGated('c2', 'PT5M');
    gatesOf('c2')[0]!.open();
    expect(await board.ended('c2')).toMatchObject({ state: 'completed' });
    const noted = await board.publish('Gated', { n: 1, batch: 'c2b' }, { deadline: 'PT1H' });
    await started('c2b', 1);
    gatesOf('c2b')[0]!.open();
    await board.ended(noted);
    // No agent reacts to it, so it has settled immediately.
    expect(await board.publishSync('Done', { n: 1 }, { correlation: 'quiet', deadline: 'PT1H' })).toMatchObject({
      completed: true,
    });
    expect(await timers()).toBe(0);
    clock.advance(120 * MINUTE);
    await board.publish('Order', { n: 3 }, { correlation: 'c2' });
    expect(await board.ended('c2')).toMatchObject({ state: 'completed' });
  });

  it('applies only to its generation: the next one has none', async () => {
    await board.publish('Order', { n: 1 }, { correlation: 'c3', deadline: 'PT1M' });
    await board.ended('c3');
    await publishGated('c3', undefined);
    clock.advance(10 * MINUTE);
    await board.publish('Order', { n: 1 }, { correlation: 'after-c3', visibility: { kind: 'After', ttl: 'PT0.001S' } });
    clock.advance(1);
    await board.ended('after-c3');
    expect(await board.status('c3')).toMatchObject({ state: 'active' });
    gatesOf('c3')[0]!.open();
    expect(await board.ended('c3')).toMatchObject({ state: 'completed' });
  });

  it.each([
    ['PT10M', 'PT2M'],
    ['PT2M', 'PT10M'],
  ])('is the earliest of several in one generation: %s and then %s', async (first, second) => {
    const correlation = `several-${first}`;
    await publishGated(correlation, first);
    await board.publish('Order', { n: 1 }, { correlation, deadline: second });
    await board.publish('Order', { n: 2 }, { correlation });
    expect(await timers()).toBe(1);
    clock.advance(2 * MINUTE);
    expect(await board.ended(correlation)).toMatchObject({ state: 'cancelled' });
    expect(await timers()).toBe(0);
  });

  it('finishes a run as cancelled, with an error that says so, and answers waiting requests', async () => {
    const begun = clock.now();
    const waiting = board.http
      .post('/run/flock')
      .set('X-Correlation-ID', 'run-1')
      .send({ agent_name: 'gate', inputs: { n: 1, batch: 'run-1' }, deadline: 'PT30S' })
      .then();
    const syncWaiting = board.publishSync(
      'Gated',
      { n: 1, batch: 'sync-1' },
      { correlation: 'sync-1', deadline: 'PT30S', timeout: 300 },
    );
    await Promise.all([started('run-1', 1), started('sync-1', 1)]);
    clock.advance(30_000);
    const at = (ms: number): string => new Date(begun + ms).toISOString();
    const run = {
      run_id: 'run-1',
      status: 'cancelled',
      started_at: at(0),
      completed_at: at(30_000),
      error: `the deadline passed at ${at(30_000)}`,
    };
    const { status, body } = await waiting;
    expect([status, body]).toEqual([200, run]);
    expect(await syncWaiting).toMatchObject({ completed: true, artifacts: [], duration_ms: 30_000 });
    expect((await board.http.get('/api/v1/runs').query({ status: 'cancelled' }).expect(200)).body).toMatchObject({
      items: [{ run_id: 'run-1', error: run.error }],
    });
  });

  it('leaves a run that was cancelled by hand without an error', async () => {
    await board.http
      .post('/run/flock')
      .set('X-Correlation-ID', 'run-2')
      .send({ agent_name: 'gate', inputs: { n: 1, batch: 'run-2' }, deadline: 'PT30S', async_run: true })
      .expect(200);
    await started('run-2', 1);
    const { body } = await board.http.post('/run/run-2/cancel').expect(200);
    clock.advance(MINUTE);
    expect(body).toMatchObject({ status: 'cancelled' });
    expect(body).not.toHaveProperty('error');
    expect((await board.http.get('/run/run-2').expect(200)).body).toEqual(body);
    expect(await timers()).toBe(0);
  });

  it('removes waiting artifacts from groups, and those that were to be released later', async () => {
    await board.publish('Left', { key: 'x' }, { correlation: 'g1', deadline: 'PT1M', visibility: { kind: 'Public' } });
    await board.publish(
      'Order',
      { n: 1 },
      { correlation: 'g2', deadline: 'PT1M', visibility: { kind: 'After', ttl: 'PT1H' } },
    );
    await board.publish('Left', { key: 'x' }, { correlation: 'g2' });
    clock.advance(MINUTE);
    expect(await board.ended('g2')).toMatchObject({ state: 'cancelled' });
    // A group without a time limit keeps no correlation open: the first one had finished before.
    expect(await board.status('g1')).toMatchObject({ state: 'completed' });
    await board.publish('Right', { key: 'x' }, { correlation: 'g3' });
    await board.ended('g3');
    expect((await board.artifacts('g3', { type: 'Joined' })).map(({ payload }) => payload)).toEqual([
      { from: ['g1', 'g3'] },
    ]);
  });

  it('counts from the first request with an idempotency key', async () => {
    const send = () =>
      board.http
        .post('/api/v1/artifacts')
        .set({ 'X-Correlation-ID': 'keyed', 'X-Idempotency-Key': 'deadline-1' })
        .send({ type: 'Gated', payload: { n: 1, batch: 'keyed' }, deadline: 'PT2M' });
    await send().expect(200);
    await started('keyed', 1);
    clock.advance(MINUTE);
    await send().expect(200);
    clock.advance(MINUTE);
    expect(await board.ended('keyed')).toMatchObject({ state: 'cancelled', artifact_count: 1 });
  });

  it('applies across restarts, even if it passed meanwhile', async () => {
    await publishGated('r1', 'PT10M');
    await publishGated('r2', 'PT20M');
    await board.close();
    clock.advance(10 * MINUTE);
    await start();
    expect(await board.ended('r1')).toMatchObject({ state: 'cancelled' });
    expect(await board.status('r2')).toMatchObject({ state: 'active' });
    clock.advance(10 * MINUTE);
    expect(await board.ended('r2')).toMatchObject({ state: 'cancelled' });
  });

  it('that passes as the work finishes has exactly one outcome', async () => {
    const names = Array.from({ length: 12 }, (_, n) => `race-${n}`);
    for (const name of names) {
      await board.http
        .post('/run/flock')
        .set('X-Correlation-ID', name)
        .send({ agent_name: 'gate', inputs: { n: 1, batch: name }, deadline: 'PT1M', async_run: true })
        .expect(200);
      await started(name, 1);
    }
    names.slice(0, 6).forEach((name) => gatesOf(name)[0]!.open());
    clock.advance(MINUTE);
    names.slice(6).forEach((name) => gatesOf(name)[0]!.open());
    for (const name of names) {
      const { state } = await board.ended(name);
      const { body } = await board.http.get(`/run/${name}`).expect(200);
      const types = await board.types(name);
      if (state === 'completed')
        expect([body, types]).toMatchObject([{ status: 'completed', result: { n: 1 } }, ['Gated', 'Passed', 'Done']]);
      else
        expect([state, body]).toMatchObject([
          'cancelled',
          { status: 'cancelled', error: expect.stringContaining('deadline') as string },
        ]);
    }
    expect(await timers()).toBe(0);
  });

  it('fires, and so do later timers, even if an earlier timer fails', async () => {
    await publishGated('after-a-bad-one', 'PT2M');
    await board.publish('Order', { n: 4 }, { correlation: 'released', visibility: { kind: 'After', ttl: 'PT3M' } });
    // No publish leaves such a timer: its correlation does not exist.
    const bad = { id: 'bad', kind: 'deadline' as const, due_at: clock.now() + MINUTE, subject: 'nobody' };
    const unitOfWork = board.app.app.get(UnitOfWork, { strict: false });
    await unitOfWork.run(({ db }) => db.insertInto('timers').values(bad).execute());
    // The clock moves in one step, so that all of them are due together.
    clock.advance(5 * MINUTE);
    expect(await board.ended('after-a-bad-one')).toMatchObject({ state: 'cancelled' });
    expect(await board.ended('released')).toMatchObject({ state: 'completed', artifact_count: 2 });
    await eventually('the log tells of the one before', () =>
      board.app.logLines.some(
        ({ msg, timer }) => msg === 'a timer could not be fired; trying again' && timer === 'deadline',
      ),
    );

    await unitOfWork.run(({ db }) => db.deleteFrom('timers').where('id', '=', 'bad').execute());
    expect(await timers()).toBe(0);
  });

  const REFUSED =
    'deadline: must be a duration above zero and of at most 100 years, such as 5m or PT5M (without years or months)';

  it.each(['5', '5m1h', '0s', 'PT0S', 'P1Y', 'P36526D', '', 'PT', 60, null, ['PT5M']])(
    'of %j is refused, and nothing is stored',
    async (deadline) => {
      const requests = [
        board.http.post('/api/v1/artifacts').send({ type: 'Order', payload: { n: 1 }, deadline }),
        board.http.post('/api/v1/artifacts/sync').send({ type: 'Order', payload: { n: 1 }, deadline }),
        board.http.post('/run/flock').send({ agent_name: 'echo', inputs: { n: 1 }, deadline }),
      ];
      for (const request of requests) {
        const { status, body } = await request.set('X-Correlation-ID', 'refused');
        expect([status, body]).toEqual([400, { detail: REFUSED }]);
      }
      expect(await board.status('refused')).toMatchObject({ state: 'not_found' });
    },
  );
});
