// Uses the application on both databases, over HTTP, and compares the rows of correlations whose ids the client names with
// those whose ids the service makes.
import { randomUUID } from 'node:crypto';

import { Board } from './board.js';

const CONFIG = `
types: { Order: {}, Packed: {}, Shipped: {}, Note: {}, Slow: {}, Left: {}, Right: {} }
agents:
  packer:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Packed }]
    engine: { kind: expression, expression: "{ 'box': 1 }" }
  shipper:
    consumes: [{ types: [Packed] }]
    publishes: [{ type: Shipped }]
    engine: { kind: expression, expression: "payload.box == 1 ? { 'box': 2 } : null" }
  failer:
    consumes: [{ types: [Slow] }]
    retry: { attempts: 1 }
    engine: { kind: expression, expression: "payload.missing" }
  joiner:
    consumes: [{ types: [Left, Right], join: { by: payload.n, within: 1h } }]
    engine: { kind: expression, expression: "null" }
`;

let board: Board;
beforeAll(async () => {
  board = await Board.start(CONFIG);
});
afterAll(() => board.close());

type Send = (headers: Record<string, string>) => Promise<string>;

const post =
  (path: string, body: object): Send =>
  async (headers) =>
    (await board.http.post(path).set(headers).send(body).expect(200)).headers['x-correlation-id'] as string;

const publish = (type: string, more: object = {}): Send =>
  post('/api/v1/artifacts', { type, payload: { n: 1 }, ...more });

const DIFFERENT = ['seq', 'id', 'started_at', 'last_activity_at', 'settled_at', 'deadline_at'];

async function stored(id: string): Promise<object> {
  const [row] = await board.app.database.rows<Record<string, unknown>>(`select * from correlations where id = '${id}'`);
  const same = Object.entries(row!).filter(([column]) => !DIFFERENT.includes(column));
  return {
    ...Object.fromEntries(same),
    isSettled: row!.settled_at !== null,
    hasDeadline: row!.deadline_at !== null,
    isInOrder: Number(row!.started_at) <= Number(row!.last_activity_at),
  };
}

describe('a correlation with an id that the service makes', () => {
  it.each<[string, Send, boolean]>([
    ['triggers nothing', publish('Note'), true],
    ['runs two agents', publish('Order'), true],
    ['fails', publish('Slow'), true],
    ['waits for the other artifact of a join', publish('Left'), false],
    ['has a deadline', publish('Left', { deadline: '1h' }), false],
    ['is published later', publish('Note', { visibility: { kind: 'After', ttl: 'PT1H' } }), false],
    ['has a webhook', publish('Left', { webhook: { url: 'https://hooks.example.com/' } }), false],
    ['is a run', post('/run/flock', { agent_name: 'packer', inputs: { n: 1 } }), true],
    ['is a run with a deadline', post('/run/flock', { agent_name: 'packer', inputs: { n: 1 }, deadline: '1h' }), true],
  ])('is stored like one with an id of the client if it %s', async (_, send, ends) => {
    const [made, named] = [await send({}), await send({ 'X-Correlation-ID': randomUUID() })];
    if (ends) await Promise.all([board.ended(made), board.ended(named)]);
    expect(await stored(made)).toEqual(await stored(named));
  });

  it('takes more artifacts, as every other one', async () => {
    const made = await publish('Order')({});
    await board.ended(made);
    await board.publish('Order', {}, { correlation: made });
    await board.ended(made);
    expect(await stored(made)).toMatchObject({ artifact_count: 6, state: 'completed' });
    expect(Number(((await stored(made)) as { generation: number }).generation)).toBe(2);
  });
});
