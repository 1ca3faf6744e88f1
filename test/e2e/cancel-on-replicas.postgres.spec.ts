import { eventually } from '../support/eventually.js';
import { GATE, gatesOf, openAll, started } from './batch-board.js';
import type { Board } from './board.js';
import { Replicas, SERVER, WORKER } from './replica-boards.js';

const CONCURRENCY = 6;
const RULE = 'cancel_on: { types: [Withdrawn], key: artifact.payload.order }';
const CONFIG = `
agents:
  runner: { consumes: [{ types: [Order] }], publishes: [{ type: Done }], ${RULE}, engine: { kind: function, module: ./gate.js }, concurrency: ${CONCURRENCY}, timeout: 1h }
  person: { consumes: [{ types: [Task] }], ${RULE}, engine: { kind: external } }
  pair: { consumes: [{ types: [Left, Right], join: { by: payload.pair } }], ${RULE}, engine: { kind: external } }
`;
const ROUNDS = 10;

interface Execution {
  id: string;
  state: string;
  cancelled_by?: string;
}

/** Uses four apps over HTTP on one Postgres, of which three run the agents. */
describe('cancel_on with several processes', () => {
  const replicas = new Replicas();
  const workers: Board[] = [];
  let server: Board;

  beforeAll(async () => {
    const files = { 'gate.js': GATE };
    for (let n = 0; n < 3; n += 1)
      workers.push(await replicas.start(CONFIG, { role: WORKER, files, settings: { maxConcurrentExecutions: 2 } }));
    server = await replicas.start(CONFIG, { role: SERVER, files });
  });
  afterAll(() => replicas.close());

  const only = async (agent: string, correlation_id: string): Promise<Execution> => {
    const { body } = await server.http.get('/api/v1/executions').query({ agent, correlation_id }).expect(200);
    const [execution, ...others] = (body as { items: Execution[] }).items;
    expect([execution?.id, others]).toEqual([expect.any(String), []]);
    return execution!;
  };

  const withdraw = async (board: Board, order: string): Promise<string> => {
    const correlation = await board.publish('Withdrawn', { order });
    return (await board.artifacts(correlation))[0]!.id;
  };

  const nothingToCancel = (): Promise<void> =>
    eventually(
      'nothing waits to be cancelled',
      async () => (await server.app.database.rows('select id from cancel_requests')).length === 0,
    );

  it('aborts what runs in any of them, and cancels what waits, when a process without agents gets the artifact', async () => {
    const publish = (order: string): Promise<string[]> =>
      Promise.all(
        Array.from({ length: CONCURRENCY }, (_, n) => workers[n % 3]!.publish('Order', { batch: order, n, order })),
      );
    const running = await publish('running');
    // Each of the three runs two.
    await started('running', CONCURRENCY);
    const waiting = await publish('waiting');
    const kept = await publish('kept');
    const off = [await withdraw(server, 'waiting'), await withdraw(server, 'running')];
    await nothingToCancel();
    for (const [index, ids] of [waiting, running].entries())
      for (const id of ids)
        expect(await only('runner', id)).toMatchObject({ state: 'cancelled', cancelled_by: off[index] });
    await eventually('all that ran are aborted', () => gatesOf('running').every(({ isAborted }) => isAborted));
    await openAll(['kept'], async () => {
      const states = await Promise.all(kept.map((id) => server.status(id)));
      return states.every(({ state, error_count: errors }) => state === 'completed' && errors === 0);
    });
    expect(gatesOf('waiting')).toEqual([]);
  });

  it('cancels what was accepted before the artifact and nothing that is sent after it, whichever gets them', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const order = `race-${round}`;
      const [one, two, three] = [0, 1, 2].map((n) => workers[(round + n) % 3]!) as [Board, Board, Board];
      const before = await one.publish('Task', { order });
      // The key of a join is computed just after.
      await one.publish('Left', { pair: order, order });
      const pair = await two.publish('Right', { pair: order, order });
      const [artifact, ...together] = await Promise.all([
        withdraw(three, order),
        one.publish('Task', { order }),
        two.publish('Task', { order }),
      ]);
      const after = await one.publish('Task', { order });
      await nothingToCancel();
      expect(await only('person', before)).toMatchObject({ state: 'cancelled', cancelled_by: artifact });
      expect(await only('pair', pair)).toMatchObject({ state: 'cancelled', cancelled_by: artifact });
      expect(await only('person', after)).toMatchObject({ state: 'pending' });
      for (const id of together) {
        const { state, cancelled_by: by } = await only('person', id);
        expect(state === 'cancelled' ? by : state).toBe(state === 'cancelled' ? artifact : 'pending');
      }
    }
  });
});
