import { eventually } from '../support/eventually.js';
import { Outside } from './outside.js';
import { Replicas, WORKER } from './replica-boards.js';

const CONFIG = `
agents:
  worker: { consumes: [{ types: [Item] }], fair_by: payload.tenant, concurrency: 100, engine: { kind: external } }
`;
const MOST_PENDING = 20;
const SHARE = MOST_PENDING / 2;

/** Uses two apps over HTTP on one Postgres. */
describe('the share of a key, counted by two processes', () => {
  const replicas = new Replicas();
  afterAll(() => replicas.close());

  it('is that of the database: each refuses the key that fills it through the other, and accepts it again', async () => {
    const settings = { maxPendingExecutions: MOST_PENDING };
    const one = await replicas.start(CONFIG, { role: WORKER, settings });
    const other = await replicas.start(CONFIG, { role: WORKER, settings });
    const send = (board: typeof one, tenant: string) =>
      board.http.post('/api/v1/artifacts').send({ type: 'Item', payload: { tenant } });
    // Each counts the key, so that what it remembers is from before the other one fills it.
    for (const board of [one, other]) await send(board, 'a').expect(200);
    for (let n = 2; n < SHARE; n += 1) await send(one, 'a').expect(200);
    for (const board of [one, other]) {
      await eventually('the key is refused', async () => (await send(board, 'a')).status === 503);
      await send(board, 'b').expect(200);
    }
    const held = await new Outside(other.http).claim({ agents: ['worker'], max: 100 });
    const ofKey = held.filter(({ inputs }) => inputs[0]!.payload.tenant === 'a');
    expect(ofKey.length).toBeGreaterThanOrEqual(SHARE);
    for (const board of [one, other])
      await eventually('the key is accepted again', async () => (await send(board, 'a')).status === 200);
  });
});
