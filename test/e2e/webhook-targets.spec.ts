import { eventually } from '../support/eventually.js';
import { answers, Receiver } from '../support/receiver.js';
import { Board } from './board.js';

interface Target {
  target_id: string;
  target_origin: string;
  set_by: string;
  failing_since?: string;
  open: number;
  dead: number;
}

interface Delivery {
  delivery_id: string;
  target_id: string;
  state: string;
}

describe('the list of webhook targets', () => {
  let board: Board;
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await Receiver.start();
    receiver.on('/down', answers(503));
    receiver.on('/gone', answers(410));
    board = await Board.start('types: { Order: {} }', {
      settings: {
        webhookUrl: receiver.url('/all'),
        webhookRetries: [3_600_000],
        outboundAllow: ['127.0.0.1/32'],
      },
    });
  });
  afterAll(async () => {
    await board.close();
    await receiver.close();
  });

  const publish = async (correlation: string, path?: string): Promise<void> => {
    await board.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', correlation)
      .send({ type: 'Order', payload: {}, ...(path !== undefined && { webhook: { url: receiver.url(path) } }) })
      .expect(200);
  };

  const targets = async (query = ''): Promise<Target[]> =>
    (await board.http.get(`/api/v1/webhooks/targets${query}`).expect(200)).body.items as Target[];

  const deliveries = async (query: object): Promise<Delivery[]> =>
    (await board.http.get('/api/v1/webhooks/deliveries').query(query).expect(200)).body.items as Delivery[];

  it('has the target of the operator and those of clients, newest first, with what they have not received', async () => {
    expect(await targets()).toEqual([
      {
        target_id: expect.any(String) as string,
        target_origin: receiver.url(''),
        set_by: 'operator',
        created_at: expect.any(String) as string,
        open: 0,
        dead: 0,
      },
    ]);
    await publish('down', '/down');
    await publish('down');
    await publish('down');
    await publish('gone', '/gone');
    await publish('gone');
    await publish('fine', '/fine');
    await eventually('all targets were tried', async () => (await deliveries({ state: 'dead' })).length === 2);
    await eventually('the rest was delivered', async () => (await deliveries({ state: 'delivered' })).length === 7);
    const [fine, gone, down, operators] = await targets();
    expect(fine).toMatchObject({ set_by: 'client', open: 0, dead: 0 });
    expect(gone).toMatchObject({ set_by: 'client', open: 0, dead: 2 });
    expect(down).toMatchObject({ failing_since: expect.any(String) as string, set_by: 'client', open: 3, dead: 0 });
    expect(operators).toMatchObject({ set_by: 'operator', open: 0, dead: 0 });
    expect([fine, gone, operators].map((target) => target!.failing_since)).toEqual([undefined, undefined, undefined]);
    expect(await targets('?failing=true')).toEqual([down]);
  });

  it('is read page by page', async () => {
    const all = await targets();
    const read: Target[] = [];
    for (let after: string | null = ''; after !== null;) {
      const { body } = await board.http
        .get('/api/v1/webhooks/targets')
        .query({ limit: 1, ...(after !== '' && { after }) })
        .expect(200);
      read.push(...(body.items as Target[]));
      after = body.pagination.next as string | null;
    }
    expect(read).toEqual(all);
    const { body } = await board.http.get('/api/v1/webhooks/targets?after=7').expect(400);
    expect(body).toEqual({ detail: 'after: must be next of an earlier page with the same filters (got "7")' });
  });

  it('leads to the deliveries of a target, in all states and in one', async () => {
    const newest = await deliveries({});
    for (const { target_id } of await targets()) {
      const own = newest.filter((delivery) => delivery.target_id === target_id);
      expect(await deliveries({ target_id })).toEqual(own);
      expect(await deliveries({ target_id, limit: 1, offset: 1 })).toEqual(own.slice(1, 2));
      for (const state of ['waiting', 'pending', 'delivered', 'dead'])
        expect(await deliveries({ target_id, state })).toEqual(own.filter((delivery) => delivery.state === state));
      expect(await deliveries({ target_id, correlation_id: 'down' })).toEqual(
        (await deliveries({ correlation_id: 'down' })).filter((delivery) => delivery.target_id === target_id),
      );
    }
  });
});
