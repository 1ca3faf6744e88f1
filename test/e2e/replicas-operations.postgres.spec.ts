import { eventually } from '../support/eventually.js';
import type { Board } from './board.js';
import { endedOperation, type Operation, operationAt } from './operations.js';
import { Replicas } from './replica-boards.js';

const CONFIG = `
agents:
  packer: { consumes: [{ types: [Parcel] }], publishes: [{ type: Packed }], engine: { kind: expression, expression: payload.missing }, retry: { attempts: 1 } }
`;

const PARCELS = 300;

/** Uses two apps over HTTP on one Postgres. */
describe('operations of two processes', () => {
  let replicas: Replicas;
  let one: Board;
  let two: Board;

  beforeEach(async () => {
    replicas = new Replicas();
    one = await replicas.start(CONFIG);
    two = await replicas.start(CONFIG);
    await Promise.all(Array.from({ length: PARCELS }, (_, n) => one.publish('Parcel', { n })));
    await eventually('all have failed', async () => (await count("state = 'failed'")) === PARCELS);
    await one.http.post('/api/v1/agents/packer/pause').expect(200);
  });

  afterEach(() => replicas.close());

  const count = async (where: string): Promise<number> => {
    const [row] = await one.app.database.rows<{ count: string }>(
      `select count(*) as count from executions where ${where}`,
    );
    return Number(row!.count);
  };

  const retryAll = async (board: Board): Promise<Operation> =>
    (await board.http.post('/api/v1/executions/retry').send({ agent: 'packer' }).expect(200)).body as Operation;

  it('that match the same executions retry each of them once', async () => {
    const started = await Promise.all([one, two, one, two].map(retryAll));
    const ended = await Promise.all(started.map(({ operation_id }) => endedOperation(two.http, operation_id)));
    expect(ended.reduce((sum, { done }) => sum + done, 0)).toBe(PARCELS);
    expect(ended.map(({ state, failed }) => [state, failed])).toEqual(Array(4).fill(['completed', 0]));
    expect(await count("state = 'pending' and round = 1")).toBe(PARCELS);
  });

  it('are continued by the other one when a process stops', async () => {
    const { operation_id } = await retryAll(one);
    await eventually('it has begun', async () => (await operationAt(two.http, operation_id)).done > 0);
    await one.close();
    expect(await endedOperation(two.http, operation_id)).toMatchObject({ state: 'completed', done: PARCELS });
    expect(await count("state = 'pending' and round = 1")).toBe(PARCELS);
  });
});
