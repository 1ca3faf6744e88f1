import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { QUEUED } from '../support/queued-agents.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { Board } from './board.js';

const CONFIG = `
agents:
  first: { consumes: [{ types: [Order] }], publishes: [{ type: Checked }], engine: { kind: function, module: ./echo.js } }
  second: { consumes: [{ types: [Checked] }], publishes: [{ type: Done }], engine: { kind: function, module: ./echo.js } }
  beside: { consumes: [{ types: [Order] }], publishes: [{ type: Noted }], engine: { kind: function, module: ./echo.js } }
  gate: { consumes: [{ types: [Gated] }], publishes: [{ type: Passed }], engine: { kind: function, module: ./gate.js }, retry: { attempts: 2, delay: 1m }, timeout: 1h }
`;

/** Uses the whole app over HTTP, stopped and started again on one database. The clock is faked. */
describe('a paused agent', () => {
  const folder = new ConfigurationFolder();
  const clock = new ManualClock();
  let board: Board;

  const start = async (): Promise<void> => {
    board = await Board.start(CONFIG, {
      clock,
      folder: folder.path,
      files: { ...QUEUED, 'gate.js': GATE },
      settings: { shutdownGraceMs: 0 },
    });
  };

  beforeAll(start);

  afterAll(async () => {
    await board.close();
    await board.app.database.drop();
    folder.remove();
  });

  const pause = async (agent: string) =>
    (await board.http.post(`/api/v1/agents/${agent}/pause`).expect(200)).body as unknown;
  const resume = async (agent: string) =>
    (await board.http.post(`/api/v1/agents/${agent}/resume`).expect(200)).body as unknown;

  const paused = async (): Promise<string[]> => {
    const { body } = await board.http.get('/api/v1/agents').expect(200);
    return (body as { agents: { name: string; paused: boolean }[] }).agents
      .filter((agent) => agent.paused)
      .map(({ name }) => name);
  };

  const waitingFor = async (agent: string): Promise<number> => {
    const { body } = await board.http.get('/api/v1/agents').expect(200);
    return (body as { agents: { name: string; waiting: number }[] }).agents.find(({ name }) => name === agent)!.waiting;
  };

  /** Waits until the unpaused agents of an order have run. */
  const waitsForSecond = (correlation: string): Promise<void> =>
    eventually('all but the paused agent has run', async () => (await board.types(correlation)).length >= 3);

  /** Work that was claimable before would have been claimed with it. */
  const laterWorkIsDone = async (): Promise<void> => waitsForSecond(await board.publish('Order', { n: 0 }));

  it('keeps its executions waiting while others run, and continues when it is resumed', async () => {
    expect(await pause('second')).toEqual({ name: 'second', paused: true, paused_at: '2026-11-20T10:00:00.000Z' });
    const waiting = board.publishSync('Order', { n: 1 }, { correlation: 'o1', timeout: 300 });
    await waitsForSecond('o1');
    await laterWorkIsDone();
    expect(await board.status('o1')).toMatchObject({ state: 'active', has_pending_work: true });
    expect((await board.types('o1')).sort()).toEqual(['Checked', 'Noted', 'Order']);
    // The count may be a moment old.
    await eventually('both executions are counted', async () => (await waitingFor('second')) === 2);
    expect(await waitingFor('first')).toBe(0);

    expect(await resume('second')).toEqual({ name: 'second', paused: false, paused_at: null });
    expect(await waiting).toMatchObject({ completed: true });
    expect((await board.types('o1')).sort()).toEqual(['Checked', 'Done', 'Noted', 'Order']);
    await eventually('no execution waits', async () => (await waitingFor('second')) === 0);
  });

  it('is paused once by any number of requests, and stays so in the list', async () => {
    const since = await pause('first');
    clock.advance(60_000);
    expect(await pause('first')).toEqual(since);
    expect(await paused()).toEqual(['first']);
    await resume('first');
    expect(await resume('first')).toEqual({ name: 'first', paused: false, paused_at: null });
    expect(await paused()).toEqual([]);
  });

  it('stays paused across a restart, with its waiting work', async () => {
    await pause('second');
    const order = await board.publish('Order', { n: 2 });
    await waitsForSecond(order);
    await board.close();
    await start();
    expect(await paused()).toEqual(['second']);
    const later = await board.publish('Order', { n: 3 });
    await waitsForSecond(later);
    expect(await board.types(order)).toHaveLength(3);

    await resume('second');
    for (const correlation of [order, later])
      expect(await board.ended(correlation)).toMatchObject({ state: 'completed', artifact_count: 4 });
  });

  it('finishes its running work, and starts no retries until it is resumed', async () => {
    const [ends, fails] = await Promise.all(['ends', 'fails'].map((batch) => board.publish('Gated', { n: 1, batch })));
    await Promise.all(['ends', 'fails'].map((batch) => started(batch, 1)));
    await pause('gate');
    gatesOf('ends')[0]!.open();
    gatesOf('fails')[0]!.fail();
    expect(await board.ended(ends!)).toMatchObject({ state: 'completed' });

    const isRetried = () =>
      board.app.logLines.some((line) => line.outcome === 'retried' && line.correlation_id === fails);
    await eventually('its first attempt has failed', isRetried);
    clock.advance(10 * 60_000);
    await laterWorkIsDone();
    expect(gatesOf('fails')).toHaveLength(1);
    expect(await board.status(fails!)).toMatchObject({ state: 'active' });

    await resume('gate');
    await started('fails', 2);
    gatesOf('fails')[1]!.open();
    expect(await board.ended(fails!)).toMatchObject({ state: 'completed' });
  });

  it('keeps runs and direct runs waiting too, which can be cancelled', async () => {
    await pause('second');
    const direct = board.http
      .post('/api/v1/agents/second/run')
      .send({ inputs: [{ type: 'Checked', payload: { n: 5 } }] })
      .then();
    const { body } = await board.http
      .post('/run/flock')
      .send({ agent_name: 'second', inputs: { n: 6 }, async_run: true })
      .expect(200);
    const { run_id } = body as { run_id: string };
    await laterWorkIsDone();
    expect((await board.http.get(`/run/${run_id}`).expect(200)).body).toEqual({ run_id, status: 'starting' });
    expect((await board.http.post(`/run/${run_id}/cancel`).expect(200)).body).toMatchObject({ status: 'cancelled' });
    await resume('second');
    expect((await direct).body).toMatchObject({ artifacts: [{ type: 'Done', payload: { n: 5 } }] });
  });

  it.each(['pause', 'resume'])('that does not exist cannot be asked to %s', async (what) => {
    const { status, body } = await board.http.post(`/api/v1/agents/nobody/${what}`);
    expect([status, body]).toEqual([404, { detail: 'Agent not found: nobody' }]);
    expect(await paused()).toEqual([]);
  });
});
