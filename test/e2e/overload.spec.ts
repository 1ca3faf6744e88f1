import type { Test } from 'supertest';

import { eventually } from '../support/eventually.js';
import { Board } from './board.js';
import { withoutPolling } from './replica-boards.js';

const CONFIG = `
agents:
  gate:
    consumes: [{ types: [Gate] }]
    publishes: [{ type: Done }]
    engine: { kind: function, module: ./gate.js }
    concurrency: 1
  wide:
    consumes: [{ types: [Wide] }]
    publishes: [{ type: Done }]
    engine: { kind: function, module: ./wide.js }
    concurrency: 10
`;

const FILES = {
  'gate.js': `globalThis.openGate = []; export default () => new Promise((resolve) => globalThis.openGate.push(() => resolve(null)));`,
  'wide.js': `globalThis.openWide = []; export default () => new Promise((resolve) => globalThis.openWide.push(() => resolve(null)));`,
};

const shared = globalThis as unknown as { openGate: (() => void)[]; openWide: (() => void)[] };

/** Uses the whole app over HTTP on a database. */
describe('more work than the limits allow', () => {
  let board: Board;

  beforeAll(async () => {
    // A recount that overlaps a commit would set the count back for a moment. Without recounts, the count is exact.
    board = withoutPolling(
      await Board.start(CONFIG, {
        files: FILES,
        settings: { maxPendingExecutions: 2, maxConcurrentExecutions: 3 },
      }),
    );
  });

  afterAll(() => board.close());

  const post = (path: string, body: object): Test =>
    board.http.post(path).set('X-Correlation-ID', 'refused').set('X-Idempotency-Key', 'later').send(body);
  const waiting = async (): Promise<number> =>
    Number(/^starling_queue_depth (\d+)$/m.exec((await board.http.get('/metrics')).text)![1]);
  const stored = async (): Promise<number> =>
    ((await board.http.get('/api/v1/artifacts/summary')).body as { summary: { total_count: number } }).summary
      .total_count;

  it('is refused with 503 and Retry-After once max_pending_executions wait, and nothing of it is stored', async () => {
    const accepted = [await board.publish('Gate', {})];
    await eventually('the first one runs', () => shared.openGate?.length === 1);
    accepted.push(await board.publish('Gate', {}), await board.publish('Gate', {}));
    expect(await waiting()).toBe(2);
    const before = await stored();
    const detail =
      '2 executions are waiting, and this service accepts work while fewer than 2 wait (max_pending_executions); try again later';
    const refused = [
      await post('/api/v1/artifacts', { type: 'Gate' }),
      await post('/api/v1/artifacts/sync', { type: 'Gate' }),
      await post('/api/v1/agents/gate/run', { inputs: [{ type: 'Gate', payload: {} }] }),
      await post('/run/flock', { agent_name: 'gate', inputs: {} }),
      await post('/run/batch', { agent_name: 'gate', batch_inputs: [{}] }),
    ];
    expect(refused.map(({ status, body, headers }) => [status, body, headers['retry-after']])).toEqual(
      Array(5).fill([503, { detail }, '5']),
    );
    expect(await stored()).toBe(before);
    expect(await board.status('refused')).toMatchObject({ state: 'not_found' });
    for (const list of ['runs', 'batches'])
      expect((await board.http.get(`/api/v1/${list}`)).body).toMatchObject({ items: [] });

    for (let opened = 0; opened < 3; opened += 1) {
      await eventually('the next one runs', () => shared.openGate.length > opened);
      shared.openGate[opened]!();
    }
    for (const correlation of accepted) expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    const retried = await post('/api/v1/artifacts', { type: 'Done' });
    expect([retried.status, retried.headers['x-idempotency-replayed']]).toEqual([200, undefined]);
  });

  it('counts the work of a paused agent, which the error names, and is accepted when that agent is resumed', async () => {
    const agent = (what: string): Test => board.http.post(`/api/v1/agents/wide/${what}`).expect(200);
    await agent('pause');
    const accepted = [await board.publish('Wide', {}), await board.publish('Wide', {})];
    const { status, body } = await board.http.post('/api/v1/artifacts').send({ type: 'Gate', payload: {} });
    expect([status, body]).toEqual([
      503,
      {
        detail:
          '2 executions are waiting, and this service accepts work while fewer than 2 wait (max_pending_executions); try again later, or resume paused agents: wide',
      },
    ]);
    await agent('resume');
    await eventually('both run', () => shared.openWide?.length === 2);
    accepted.push(await board.publish('Done', {}));
    shared.openWide.splice(0).forEach((open) => open());
    for (const id of accepted) expect(await board.ended(id)).toMatchObject({ state: 'completed' });
  });

  it('waits while max_concurrent_executions run, whatever the concurrency of each agent', async () => {
    const ids: string[] = [];
    for (let n = 1; n <= 3; n += 1) {
      ids.push(await board.publish('Wide', {}));
      await eventually(`${n} run`, () => shared.openWide?.length === n);
    }
    for (let n = 0; n < 2; n += 1) ids.push(await board.publish('Wide', {}));
    expect(shared.openWide).toHaveLength(3);
    expect(await waiting()).toBe(2);
    shared.openWide[0]!();
    await eventually('a fourth runs', () => shared.openWide.length === 4);
    expect(await waiting()).toBe(1);
    shared.openWide[1]!();
    await eventually('the last runs', () => shared.openWide.length === 5);
    shared.openWide.slice(2).forEach((open) => open());
    for (const id of ids) expect(await board.ended(id)).toMatchObject({ state: 'completed' });
  });
});
