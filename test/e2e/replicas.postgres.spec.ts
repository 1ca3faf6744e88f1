import { eventually } from '../support/eventually.js';
import { connected } from '../support/postgres-cluster.js';
import { QUEUED } from '../support/queued-agents.js';
import { ended, finish, GATE, gatesOf, openAll, orders, send, started } from './batch-board.js';
import type { Board } from './board.js';
import { Replicas, SERVER, withoutPolling, WORKER } from './replica-boards.js';

/** More ids than fit into one message between processes. */
const MANY = 250;

const CONFIG = `
agents:
  double:
    consumes: [{ types: [Number] }]
    publishes: [{ type: Doubled }]
    engine: { kind: function, module: ./double.js }
  second:
    consumes: [{ types: [Doubled] }]
    publishes: [{ type: Quadrupled }]
    engine: { kind: function, module: ./double.js }
  shaky:
    consumes: [{ types: [Shaky] }]
    publishes: [{ type: Steady }]
    engine: { kind: function, module: ./shaky.js }
    retry: { attempts: 3, delay: 50ms }
  gate:
    consumes: [{ types: [Gated] }]
    publishes: [{ type: Passed }]
    engine: { kind: function, module: ./gate.js }
    concurrency: ${MANY}
    timeout: 1h
  many:
    consumes: [{ types: [Many] }]
    publishes: [{ type: Gated }]
    engine: { kind: function, module: ./many.js }
`;

const FILES = {
  ...QUEUED,
  'gate.js': GATE,
  'many.js': `export default ([{ payload }]) => Array.from({ length: ${MANY} }, (_, n) => ({ n, batch: payload.batch }));`,
  'shaky.js': `export default ([{ payload }], { attempt }) => {
    if (attempt < 3) throw new Error('not yet');
    return { n: payload.n, attempt };
  };`,
};

/**
 * Uses apps over HTTP on one Postgres: the first runs no executions, the second works. Polling is off, so that work
 * continues only because one notifies the other.
 */
describe('a process without worker, and one that works', () => {
  const replicas = new Replicas();
  let server: Board;
  let worker: Board;

  beforeAll(async () => {
    server = withoutPolling(await replicas.start(CONFIG, { files: FILES, role: SERVER }));
    worker = withoutPolling(
      await replicas.start(CONFIG, { files: FILES, role: WORKER, settings: { maxConcurrentExecutions: MANY } }),
    );
  });

  afterAll(() => replicas.close());

  it('answer sync publishes with all that follows, sequential and parallel ones', async () => {
    for (let n = 0; n < 20; n += 1) await publishesAndWaits(n);
    await Promise.all(orders(50).map((_, n) => publishesAndWaits(n)));

    async function publishesAndWaits(n: number): Promise<void> {
      const { completed, artifacts } = await server.publishSync('Number', { n }, { timeout: 120 });
      expect([completed, artifacts.map(({ type, payload }) => [type, payload.n])]).toEqual([
        true,
        [
          ['Doubled', 2 * n],
          ['Quadrupled', 4 * n],
        ],
      ]);
    }
  });

  it('answer a sync publish far sooner than any poll', async () => {
    const took: number[] = [];
    for (let n = 0; n < 20; n += 1) {
      const began = performance.now();
      await server.publishSync('Number', { n });
      took.push(performance.now() - began);
    }
    // Waiters would poll every second, executors every two; a busy machine may slow almost all of them.
    expect(Math.min(...took)).toBeLessThan(500);
  });

  it('show the same artifacts, whichever they were published on', async () => {
    const ids = [await server.publish('Number', { n: 1 }), await worker.publish('Number', { n: 2 })];
    for (const board of [worker, server]) {
      for (const id of ids)
        expect(await board.ended(id)).toEqual({
          ...(await server.status(id)),
          state: 'completed',
          artifact_count: 3,
          has_pending_work: false,
        });
    }
    for (const id of ids) expect(await worker.artifacts(id)).toEqual(await server.artifacts(id));
  });

  it('answer a run when it has finished', async () => {
    const { body } = await server.http
      .post('/run/flock')
      .send({ agent_name: 'double', inputs: { n: 21 } })
      .expect(200);
    expect(body).toMatchObject({ status: 'completed', result: { n: 84 } });
    const { run_id: id } = body as { run_id: string };
    expect((await worker.http.get(`/run/${id}`).expect(200)).body).toEqual(
      (await server.http.get(`/run/${id}`).expect(200)).body,
    );
  });

  it('run a batch to its end', async () => {
    const id = await send(server, 'double', orders(30));
    const batch = await ended(server, id);
    expect(batch).toMatchObject({ status: 'completed', completed_items: 30, failed_items: 0 });
    expect(batch.results.map(({ index, result }) => [index, result!.n])).toEqual(orders(30).map((_, n) => [n, 4 * n]));
    expect(await ended(worker, id)).toEqual(batch);
  });

  it('abort on the worker the engine of a correlation that is cancelled on the other', async () => {
    const { body } = await server.http
      .post('/run/flock')
      .send({ agent_name: 'gate', inputs: { n: 1, batch: 'cancelled' }, async_run: true })
      .expect(200);
    const { run_id: id } = body as { run_id: string };
    await started('cancelled', 1);
    expect((await server.http.post(`/run/${id}/cancel`).expect(200)).body).toMatchObject({ status: 'cancelled' });
    await eventually('the engine is aborted', () => gatesOf('cancelled')[0]!.isAborted);
    expect((await worker.http.get(`/run/${id}`).expect(200)).body).toMatchObject({ status: 'cancelled' });
  });

  it('abort all engines of a large correlation that is cancelled on the other', async () => {
    const id = await server.publish('Many', { batch: 'many' });
    await started('many', MANY);
    await server.http.post(`/api/v1/correlations/${id}/cancel`).expect(200);
    await eventually('the engines are aborted', () => gatesOf('many').every(({ isAborted }) => isAborted));
  });

  it('stop a batch on one whose runs are on the other', async () => {
    const id = await send(server, 'gate', orders(10, { batch: 'stopped' }), { max_workers: 3 });
    await started('stopped', 3);
    await server.http.post(`/batch/${id}/cancel`).expect(200);
    await eventually('the engines are aborted', () => gatesOf('stopped').every(({ isAborted }) => isAborted));
    // Behind a batch whose rows would have come before: if one of them had started, its gate would exist.
    const next = await send(server, 'gate', orders(3, { batch: 'next' }), { max_workers: 3 });
    await finish(server, [next], ['next']);
    expect(gatesOf('stopped')).toHaveLength(3);
  });

  it('release delayed artifacts on time, and retry failures', async () => {
    const later = await server.publish('Number', { n: 5 }, { visibility: { kind: 'After', ttl: 'PT0.3S' } });
    const { completed, artifacts } = await server.publishSync('Shaky', { n: 1 }, { timeout: 120 });
    expect([completed, artifacts.map(({ payload }) => payload)]).toEqual([true, [{ n: 1, attempt: 3 }]]);
    await server.ended(later);
    expect(await server.types(later)).toEqual(['Number', 'Doubled', 'Quadrupled']);
  });
});

/** Uses apps as above. A database client listens to the notifications. */
describe.each([
  ['two that work', [WORKER, WORKER]],
  ['two without worker, and one that works', [SERVER, SERVER, WORKER]],
])('processes that have no slot left: %s', (name, roles) => {
  it('notify each other once about waiting work, and not repeatedly', async () => {
    const replicas = new Replicas();
    const boards: Board[] = [];
    for (const role of roles)
      boards.push(
        withoutPolling(await replicas.start(CONFIG, { files: FILES, role, settings: { maxConcurrentExecutions: 1 } })),
      );
    const working = roles.filter(({ worker }) => worker).length;
    try {
      await connected(boards[0]!.app.database.url, async (client) => {
        let heard = 0;
        client.on('notification', () => (heard += 1));
        await client.query('listen starling');
        for (let n = 0; n < working; n += 1) await boards[0]!.publish('Gated', { n, batch: name });
        await started(name, working);
        heard = 0;
        const ids: string[] = [];
        for (let n = 0; n < 50; n += 1) ids.push(await boards[0]!.publish('Gated', { n, batch: name }));
        await eventually('the last one was notified', () => heard > 0);
        expect(heard).toBeLessThanOrEqual(100);

        await openAll([name], async () => gatesOf(name).length >= ids.length + working);
        gatesOf(name).forEach((gate) => gate.open());
        for (const id of ids) expect(await boards[0]!.ended(id)).toMatchObject({ state: 'completed' });
        expect(gatesOf(name)).toHaveLength(ids.length + working);
      });
    } finally {
      await replicas.close();
    }
  });
});
