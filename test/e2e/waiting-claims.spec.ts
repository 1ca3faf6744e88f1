import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';

import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { Board } from './board.js';
import { type Held, Outside } from './outside.js';

const CONFIG = `
agents:
  packer:
    consumes: [{ types: [Parcel] }]
    publishes: [{ type: Packed }]
    engine: { kind: external }
    concurrency: 100
    timeout: 1h
  checker:
    consumes: [{ types: [Check] }]
    publishes: [{ type: Checked }]
    engine: { kind: external, assignee: anna }
`;

const OTHERS = 150;

// Uses an app, its database and HTTP. The clock stands still until a test moves it.
describe('claims that wait', () => {
  const clock = new ManualClock();
  let board: Board;
  let outside: Outside;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock });
    outside = new Outside(board.http);
  });

  afterAll(() => board.close());

  async function transactions(): Promise<number> {
    const { text } = await board.http.get('/metrics').expect(200);
    return Number(/^starling_database_transaction_seconds_count(?:\{.*\})? (\d+)$/m.exec(text)![1]);
  }

  const pack = { agents: ['packer'], wait: 60 };

  it('are answered as soon as there is work, one execution each, and with an empty list at their timeout', async () => {
    const waiting = Array.from({ length: 4 }, (_, worker) =>
      outside.claim({ ...pack, claimed_by: `worker-${worker}` }),
    );
    const parcels = await Promise.all([1, 2, 3].map((n) => board.publish('Parcel', { n })));
    await eventually('three are held', async () => {
      const { items } = (await board.http.get('/api/v1/executions?state=running').expect(200)).body as {
        items: object[];
      };
      return items.length === 3;
    });
    clock.advance(61_000);
    const held = (await Promise.all(waiting)).flat();
    expect(held.map(({ correlation_id }) => correlation_id).sort()).toEqual([...parcels].sort());
    for (const each of held)
      expect(await outside.send(each, 'complete', { output: {} })).toMatchObject({ status: 200 });
  });

  it('of many clients without work do not slow the others', async () => {
    let arrived = 0;
    (board.app.app.getHttpServer() as NodeJS.EventEmitter).on('request', () => (arrived += 1));
    const wait = (assignee: string): Promise<Held[]> =>
      outside.claim({ agents: ['packer', 'checker'], assignee, wait: 60 });
    const others = Array.from({ length: OTHERS }, (_, n) => wait(`stranger-${n}`));
    await eventually('they have all come', () => arrived === OTHERS);
    const anna = wait('anna');
    const before = await transactions();
    const check = await board.publish('Check', { n: 1 });
    const [held] = await anna;
    expect(held).toMatchObject({ correlation_id: check, assignee: 'anna' });
    expect((await transactions()) - before).toBeLessThan(OTHERS / 2);
    expect(await outside.send(held!, 'complete', { output: {} })).toMatchObject({ status: 200 });
    clock.advance(61_000);
    expect((await Promise.all(others)).flat()).toEqual([]);
  });

  it('reserve nothing for a client that has disconnected', async () => {
    const server = board.app.app.getHttpServer() as NodeJS.EventEmitter;
    const arrived = once(server, 'request') as Promise<[IncomingMessage]>;
    const gone = await waitingRequest(board.app.url);
    const [{ socket }] = await arrived;
    const closed = once(socket, 'close');
    gone.destroy();
    await closed;
    const parcel = await board.publish('Parcel', { n: 9 });
    let held;
    await eventually(
      'another one gets it',
      async () => ([held] = await outside.claim({ agents: ['packer'] })).length > 0,
    );
    expect(held).toMatchObject({ correlation_id: parcel, attempt: 1 });
    expect(await outside.execution(held!['execution_id'])).toMatchObject({ lost_leases: 0 });
    expect(await outside.send(held!, 'complete', { output: {} })).toMatchObject({ status: 200 });
  });

  it('end when the service stops', async () => {
    const stopping = await Board.start(CONFIG);
    const arrived = once(stopping.app.app.getHttpServer() as NodeJS.EventEmitter, 'request');
    const waiting = new Outside(stopping.http).claim(pack);
    await arrived;
    // By then the claim waits, too.
    await stopping.http.get('/api/v1/agents').expect(200);
    stopping.app.lifecycle.stop();
    expect(await waiting).toEqual([]);
    await stopping.http
      .post('/api/v1/executions/claim')
      .send({ agents: ['packer'] })
      .expect(503);
    await stopping.close();
  });
});

/** Sends a whole claim; errors are expected on a connection that the test closes. */
async function waitingRequest(url: string): Promise<ReturnType<typeof request>> {
  const call = request(`${url}/api/v1/executions/claim`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
  });
  call.on('error', () => undefined);
  call.end(JSON.stringify({ agents: ['packer'], wait: 60 }));
  await once(call, 'finish');
  return call;
}
