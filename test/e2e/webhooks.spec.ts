import { createServer } from 'node:http';

import { Resolver } from '../../src/http-client/lookups.js';
import { timestamp } from '../contract/rows.js';
import { eventually } from '../support/eventually.js';
import { answers, type Received, Receiver } from '../support/receiver.js';
import { isValidForFlock, verified } from '../webhooks/verifying.js';
import { Board } from './board.js';

const CONFIG = `
types:
  Order: {}
agents:
  packer:
    consumes: [{ types: [Order], tags: [pack] }]
    publishes: [{ type: Packed }]
    engine: { kind: expression, expression: '[{"n": 1.0}, {"n": 2.0}]' }
`;
const PLAIN = 'a secret with größe in it';
const ENCODED = 'whsec_plJ3nmyCDGBKInavdOK15jsl';
const NEW = 'the next secret of the operator';

interface Delivery {
  delivery_id: string;
  state: string;
  sequence: number;
  last_status?: number;
  last_error?: string;
  attempts: object[];
}

/** Resolves names as a hostile name server does. */
class HostileNames extends Resolver {
  private readonly addresses: Record<string, string> = {
    'inner.example': '10.0.0.1',
    'metadata.example': '169.254.169.254',
    'translated.example': '64:ff9b::a00:1',
    'allowed.example': '127.0.0.1',
    'mapped.example': '::ffff:127.0.0.1',
    'rebound.example': '127.0.0.1',
  };

  rebind(name: string, address: string): void {
    this.addresses[name] = address;
  }

  async resolve(name: string) {
    const address = this.addresses[name]!;
    return [{ address, family: address.includes(':') ? 6 : 4 }];
  }
}

// Checks deliveries as receivers see them: HTTP servers that verify them with the package that receivers use.
describe('webhooks', () => {
  const names = new HostileNames();
  let board: Board;
  let operators: Receiver;
  let clients: Receiver;

  beforeAll(async () => {
    operators = await Receiver.start();
    clients = await Receiver.start();
    board = await Board.start(CONFIG, {
      resolver: names,
      settings: {
        secretKey: '0f'.repeat(32),
        webhookUrl: operators.url('/all'),
        webhookSecret: [NEW, ENCODED],
        outboundAllow: ['127.0.0.1/32'],
      },
    });
  });
  afterAll(async () => {
    await board.close();
    await Promise.all([operators.close(), clients.close()]);
  });

  async function publish(webhook?: object, parts: object = {}): Promise<string> {
    const response = await board.http
      .post('/api/v1/artifacts')
      .send({ type: 'Order', payload: { text: 'größer' }, webhook, ...parts });
    expect([response.status, response.body]).toEqual([200, { status: 'accepted' }]);
    return response.headers['x-correlation-id'] as string;
  }

  const of = (receiver: Receiver, correlation: string): Received[] =>
    receiver.received.filter((received) => received.correlation === correlation);

  async function arrivedAt(receiver: Receiver, correlation: string, count: number): Promise<Received[]> {
    await eventually(
      `${count} deliveries of ${correlation} have arrived`,
      () => of(receiver, correlation).length >= count,
    );
    return of(receiver, correlation);
  }

  /** Returns the delivery to the client's target, once it has finished. */
  async function ended(correlation: string, origin: string): Promise<Delivery> {
    let found: Delivery | undefined;
    await eventually(`the delivery of ${correlation} has finished`, async () => {
      const { body } = await board.http.get('/api/v1/webhooks/deliveries').query({ correlation_id: correlation });
      found = (body as { items: (Delivery & { target_origin: string })[] }).items.find(
        ({ target_origin }) => target_origin === origin,
      );
      return ['delivered', 'dead'].includes(found?.state ?? '');
    });
    return (await board.http.get(`/api/v1/webhooks/deliveries/${found!.delivery_id}`).expect(200)).body as Delivery;
  }

  it.each([PLAIN, ENCODED])(
    'report every artifact of a correlation in order, signed with its secret: %s',
    async (secret) => {
      const correlation = await publish({ url: clients.url('/hook'), secret }, { tags: ['pack', 'vip'] });
      const received = await arrivedAt(clients, correlation, 3);
      const artifacts = await board.artifacts(correlation);
      for (const [index, request] of received.entries()) {
        const { id, type, produced_by, payload, tags } = artifacts[index]!;
        expect(verified(secret, request)).toEqual({
          event_type: 'artifact.created',
          correlation_id: correlation,
          sequence: index + 1,
          artifact: { id, type, produced_by, payload, created_at: timestamp, tags },
          timestamp,
        });
        expect(isValidForFlock(secret, request)).toBe(true);
        expect(() => verified('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', request)).toThrow();
      }
      expect(received).toHaveLength(3);
      expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(3);
      expect(await ended(correlation, `http://127.0.0.1:${clients.port}`)).toMatchObject({
        state: 'delivered',
        attempts: [{ attempt: 1, status: 200 }],
      });
    },
  );

  it('are signed with both secrets of the operator, and for Flock with the first', async () => {
    const correlation = await publish();
    const [request] = await arrivedAt(operators, correlation, 1);
    for (const secret of [NEW, ENCODED]) expect(verified(secret, request!)).toMatchObject({ sequence: 1 });
    expect([isValidForFlock(NEW, request!), isValidForFlock(ENCODED, request!)]).toEqual([true, false]);
  });

  it('have no signature without a secret', async () => {
    const correlation = await publish({ url: clients.url('/hook') });
    const [{ headers }] = (await arrivedAt(clients, correlation, 1)) as [Received];
    expect(Object.keys(headers).filter((name) => /signature/.test(name))).toEqual([]);
    expect(headers).toMatchObject({
      'webhook-id': expect.stringMatching(/^[0-9a-f-]{36}$/),
      'webhook-timestamp': expect.stringMatching(/^\d{10}$/),
      'content-type': 'application/json',
    });
  });

  it.each([
    [
      'inner.example',
      'inner.example must point to a public address, not to 10.0.0.1; the operator of this service can allow it with outbound_allow',
    ],
    [
      'translated.example',
      'translated.example must point to a public address, not to 64:ff9b::a00:1; the operator of this service can allow it with outbound_allow',
    ],
    [
      'metadata.example',
      'metadata.example must not point to 169.254.169.254: link-local, metadata and unusable addresses are never called',
    ],
  ])(
    'are dead immediately if the name %s resolves to a forbidden address, which only the log shows',
    async (name, reason) => {
      const origin = `http://${name}:${clients.port}`;
      const delivery = await ended(await publish({ url: `${origin}/` }), origin);
      const error = `${name} resolves to an address that may not be called; the log of the service shows the address`;
      expect(delivery).toMatchObject({ state: 'dead', last_error: error, attempts: [{ attempt: 1, error }] });
      expect(board.app.logLines).toContainEqual(
        expect.objectContaining({ delivery_id: delivery.delivery_id, reason, msg: 'a delivery was not sent' }),
      );
    },
  );

  it('are dead if a name that resolved to an allowed address resolves to another one at the connection', async () => {
    const inner = createServer().on('request', () => (reached += 1));
    let reached = 0;
    await new Promise<void>((resolve) => inner.listen(clients.port, '127.0.0.2', resolve));
    clients.on('/closes', answers(200, { connection: 'close' }));
    const origin = `http://rebound.example:${clients.port}`;
    expect(await ended(await publish({ url: `${origin}/closes` }), origin)).toMatchObject({ state: 'delivered' });
    names.rebind('rebound.example', '127.0.0.2');
    const correlation = await publish({ url: `${origin}/closes` });
    expect(await ended(correlation, origin)).toMatchObject({
      state: 'dead',
      last_error: expect.stringMatching(/^rebound\.example resolves to an address that may not be called; /),
    });
    expect([reached, of(clients, correlation)]).toEqual([0, []]);
    inner.close();
  });

  it.each(['allowed.example', 'mapped.example'])(
    'arrive if outbound_allow lists the address of the name %s',
    async (name) => {
      const correlation = await publish({ url: `http://${name}:${clients.port}/hook`, secret: PLAIN });
      const [request] = await arrivedAt(clients, correlation, 1);
      expect([request!.headers.host, verified(PLAIN, request!).sequence]).toEqual([`${name}:${clients.port}`, 1]);
    },
  );

  it('do not follow redirects', async () => {
    clients.on('/moved', answers(307, { location: clients.url('/hook') }));
    const correlation = await publish({ url: clients.url('/moved') });
    await eventually('its answer is stored', async () => {
      const { body } = await board.http.get('/api/v1/webhooks/deliveries').query({ correlation_id: correlation });
      return (body as { items: Delivery[] }).items.some(({ last_status }) => last_status === 307);
    });
    // It may have been tried again by now.
    expect(new Set(of(clients, correlation).map(({ path }) => path))).toEqual(new Set(['/moved']));
  });

  it('are sent again by hand, with the same id and the same body', async () => {
    const correlation = await publish({ url: clients.url('/hook'), secret: PLAIN });
    const { delivery_id } = await ended(correlation, `http://127.0.0.1:${clients.port}`);
    await board.http.post(`/api/v1/webhooks/deliveries/${delivery_id}/redeliver`).expect(200);
    const [first, second] = (await arrivedAt(clients, correlation, 2)) as [Received, Received];
    expect([second.headers['webhook-id'], second.body]).toEqual([delivery_id, first.body]);
    expect(verified(PLAIN, second)).toMatchObject({ sequence: 1 });
  });
});
