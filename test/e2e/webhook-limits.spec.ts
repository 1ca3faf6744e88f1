import type { Settings } from '../../src/config/settings.js';
import { Resolver } from '../../src/http-client/lookups.js';
import type { TestAppOptions } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { answers, Receiver } from '../support/receiver.js';
import { Board } from './board.js';
import { SERVER } from './replica-boards.js';

const CONFIG = 'types: { Order: {} }\nagents: {}\n';
const MINUTE = 60_000;

interface Delivery {
  delivery_id: string;
  state: string;
  attempt: number;
  sequence: number;
  target_id: string;
  next_attempt_at?: string;
  last_error?: string;
}

/** Resolves every name to the receiver's address, except those of `public.example`. */
class LocalNames extends Resolver {
  async resolve(name: string) {
    return [{ address: name.endsWith('public.example') ? '93.184.215.14' : '127.0.0.1', family: 4 }];
  }
}

// Uses the service, its database and the receiver. The test resolves names, and time stands still until it moves.
describe("clients' webhooks", () => {
  let board: Board;
  let receiver: Receiver;
  let clock: ManualClock;

  beforeEach(async () => {
    clock = new ManualClock();
    receiver = await Receiver.start();
  });
  afterEach(async () => {
    await board.close();
    await receiver.close();
  });

  const start = async (settings: Partial<Settings> = {}, more: Partial<TestAppOptions> = {}): Promise<Board> =>
    (board = await Board.start(CONFIG, {
      clock,
      resolver: new LocalNames(),
      folder: more.folder,
      role: more.role,
      settings: { outboundAllow: ['127.0.0.0/8'], shutdownGraceMs: 0, ...settings },
    }));

  const publish = (url: string | null, correlation: string, payload: object = { n: 1 }) =>
    board.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', correlation)
      .send({ type: 'Order', payload, ...(url !== null && { webhook: { url } }) });

  async function deliveries(): Promise<Delivery[]> {
    const { body } = await board.http.get('/api/v1/webhooks/deliveries').query({ limit: 500 }).expect(200);
    return (body as { items: Delivery[] }).items.reverse();
  }

  async function stored(): Promise<number> {
    const { body } = await board.http.get('/api/v1/artifacts').expect(200);
    return (body as { pagination: { total: number } }).pagination.total;
  }

  describe('that are turned off', () => {
    it('are refused with the publish, which stores nothing, while the operator gets every artifact', async () => {
      await start({ clientWebhooks: 'off', webhookUrl: receiver.url('/operator') });
      const { status, body } = await publish(receiver.url('/client'), 'refused');
      expect([status, body]).toEqual([
        400,
        {
          detail:
            'webhook: this service sends no webhooks for clients (client_webhooks is off); publish without webhook',
        },
      ]);
      expect(await stored()).toBe(0);
      await publish(null, 'told').expect(200);
      await eventually('the operator has the artifact', () => receiver.at('/operator').length === 1);
    });

    it('are dead with the reason if they were pending, and can be sent again when they are turned on', async () => {
      const first = await start();
      receiver.on('/client', answers(503));
      await publish(receiver.url('/client'), 'owed').expect(200);
      await eventually('it waits for its next try', async () => (await deliveries())[0]?.attempt === 2);
      receiver.on('/client', answers(200));
      first.app.lifecycle.stop();
      await first.app.app.close();
      const second = await start({ clientWebhooks: 'off' }, first.app);
      clock.advance(MINUTE);
      await eventually('it is dead', async () => (await deliveries())[0]!.state === 'dead');
      const [{ delivery_id, last_error }] = (await deliveries()) as [Delivery];
      expect(last_error).toBe(
        'webhooks of clients are off (client_webhooks); send the delivery again when they are on',
      );
      expect(receiver.received).toHaveLength(1);
      await second.close();
      await start({}, first.app);
      await board.http.post(`/api/v1/webhooks/deliveries/${delivery_id}/redeliver`).expect(200);
      await eventually('it has arrived', async () => (await deliveries())[0]!.state === 'delivered');
      await board.close();
      board = first;
    });
  });

  describe('that go to a list of hosts', () => {
    it('are refused for any other host, and sent to listed hosts', async () => {
      await start({ clientWebhooks: 'list', clientWebhookHosts: ['hooks.example', '*.partner.example'] });
      for (const host of [
        'other.example',
        'partner.example',
        'evilpartner.example',
        'hooks.example.evil.example',
        '127.0.0.1',
        'localhost',
      ]) {
        const { status, body } = await publish(`http://${host}/`, 'refused');
        expect([status, body]).toEqual([
          400,
          {
            detail: `webhook.url: must point to an allowed webhook host, not to ${host}; the operator of this service can allow it with client_webhook_hosts`,
          },
        ]);
      }
      expect(await stored()).toBe(0);
      for (const host of [
        'hooks.example',
        'HOOKS.example',
        'hooks.example.',
        'a.partner.example',
        'a.b.partner.example',
      ]) {
        await publish(`http://${host}:${receiver.port}/hook`, 'sent').expect(200);
      }
      await eventually('all have arrived', async () =>
        (await deliveries()).every(({ state }) => state === 'delivered'),
      );
      expect(receiver.received.length).toBeGreaterThan(5);
    });
  });

  describe('to ports', () => {
    it.each([
      'http://93.184.215.14:9000/',
      'https://[2606:4700::1111]:25/',
      'http://hooks.example:22/',
      'http://hooks.public.example:6379/',
    ])('that are not allowed are refused: %s', async (url) => {
      await start({ outboundAllow: [] });
      const { status, body } = await publish(url, 'refused');
      expect([status, body]).toEqual([
        400,
        {
          detail: `webhook.url: must have one of the ports 80, 443, 8443, not ${new URL(url).port}; the operator of this service can allow it with client_webhook_ports`,
        },
      ]);
      expect(await stored()).toBe(0);
    });

    it.each([
      'http://hooks.example/',
      'https://hooks.example/',
      'https://hooks.example:8443/',
      'http://93.184.215.14:443/',
    ])('that are standard are accepted: %s', async (url) => {
      // These are addresses of other people, so the test sends nothing.
      await start({ outboundAllow: [] }, { role: SERVER });
      await publish(url, 'taken').expect(200);
    });

    it('may be any that outbound_allow covers, which for a name is known at the connection', async () => {
      await start();
      await publish(receiver.url('/literal'), 'literal').expect(200);
      await publish(`http://inner.example:${receiver.port}/name`, 'name').expect(200);
      await publish(`http://public.example:${receiver.port}/`, 'public').expect(200);
      await eventually('all have finished', async () =>
        (await deliveries()).every(({ state }) => ['delivered', 'dead'].includes(state)),
      );
      expect(receiver.received.map(({ path }) => path).sort()).toEqual(['/literal', '/name']);
      expect((await deliveries()).map(({ state, last_error }) => [state, last_error])).toEqual([
        ['delivered', undefined],
        ['delivered', undefined],
        [
          'dead',
          'public.example resolves to an address that may not be called; the log of the service shows the address',
        ],
      ]);
      expect(board.app.logLines).toContainEqual(
        expect.objectContaining({
          reason: `public.example must have one of the ports 80, 443, 8443, not ${receiver.port}; the operator of this service can allow it with client_webhook_ports`,
        }),
      );
    });
  });

  describe('to one host', () => {
    const LIMIT = 100_000;
    const LARGE = { text: 'x'.repeat(20_000) };
    const TARGETS = 10;
    const PUBLISHES = 3;
    const bytes = (): number => receiver.received.reduce((sum, { body }) => sum + body.length, 0);

    /** Waits until every delivery that may be sent now has been sent. */
    async function settled(): Promise<Delivery[]> {
      let found: Delivery[] = [];
      await eventually('all allowed deliveries are sent', async () => {
        found = await deliveries();
        const waits = found.filter(({ state }) => state === 'pending' || state === 'waiting');
        // A running one would be sent again when its lease expires, as the clock moves.
        const firsts = [...Map.groupBy(waits, ({ target_id }) => target_id).values()].map(
          (ofTarget) => ofTarget.toSorted((a, b) => a.sequence - b.sequence)[0]!,
        );
        return (
          waits.length + found.filter(({ state }) => state === 'delivered').length === found.length &&
          firsts.every(
            ({ next_attempt_at }) => next_attempt_at !== undefined && Date.parse(next_attempt_at) > clock.now(),
          )
        );
      });
      return found;
    }

    it.each([
      ['of one name', () => receiver.url('')],
      ['of many names', (n: number) => `http://n${n}.example:${receiver.port}`],
    ])(
      '%s wait when the host was sent enough, without a try, and arrive in order when minutes have passed',
      async (_, base) => {
        await start({ clientWebhookBytesPerMinute: LIMIT });
        for (let n = 0; n < TARGETS; n += 1) await publish(`${base(n)}/${n}`, 'many').expect(200);
        await eventually('its targets are known', async () =>
          (await deliveries()).every(({ state }) => state === 'delivered'),
        );
        const before = receiver.received.length;
        clock.advance(MINUTE);
        const atStart = bytes();
        for (let n = 0; n < PUBLISHES; n += 1) await publish(null, 'many', LARGE).expect(200);

        const all = await settled();
        const waits = all.filter(({ state }) => state !== 'delivered');
        expect(waits.length).toBeGreaterThan(TARGETS);
        expect(waits.every(({ attempt }) => attempt === 1)).toBe(true);
        expect(
          waits
            .filter(({ next_attempt_at }) => next_attempt_at)
            .every(({ last_error }) =>
              /\.example has reached client_webhook_bytes_per_minute|^127\.0\.0\.1 has reached client_webhook_bytes_per_minute$/.test(
                last_error!,
              ),
            ),
        ).toBe(true);
        // One begins while there is some room left; of several names one each, because running deliveries count only
        // for their name.
        expect(bytes() - atStart).toBeLessThanOrEqual(base(0) === base(1) ? LIMIT + 25_000 : 2.5 * LIMIT);
        let minutes = 0;
        for (; (await settled()).some(({ state }) => state !== 'delivered'); minutes += 1) clock.advance(MINUTE);
        expect(minutes).toBeGreaterThanOrEqual(4);

        const later = receiver.received.slice(before);
        expect(new Set(later.map(({ id }) => id)).size).toBe(later.length);
        for (let n = 0; n < TARGETS; n += 1)
          expect(later.filter(({ path }) => path === `/${n}`).map(({ sequence }) => sequence)).toEqual([11, 12, 13]);
        const { body } = await board.http.get(`/api/v1/webhooks/deliveries/${all.at(-1)!.delivery_id}`).expect(200);
        expect((body as { attempts: object[] }).attempts).toHaveLength(1);
      },
    );

    it('do not amplify: the traffic to ten targets for a few small requests is limited by default', async () => {
      await start();
      for (let n = 0; n < TARGETS; n += 1) await publish(receiver.url(`/${n}`), 'lever').expect(200);
      for (let n = 0; n < PUBLISHES; n += 1) await publish(null, 'lever', { text: 'x'.repeat(1_000_000) }).expect(200);
      await settled();
      expect(bytes()).toBeLessThan(12 * 1_024 * 1_024);
    });
  });

  it('with large payloads are sent a few at a time, complete, while small ones continue', async () => {
    await start({ memoryBudgetBytes: 16 * 1_024 * 1_024, webhookUrl: receiver.url('/operator') });
    let underWay = 0;
    let most = 0;
    const release = Promise.withResolvers<void>();
    receiver.on('/operator', (response, { body }) => {
      if (body.length < 10_000) return void response.writeHead(200).end();
      underWay += 1;
      most = Math.max(most, underWay);
      void release.promise.then(() =>
        setImmediate(() => {
          underWay -= 1;
          response.writeHead(200).end();
        }),
      );
    });
    const text = 'größer '.repeat(100_000);
    for (let n = 0; n < 8; n += 1) await publish(null, `large-${n}`, { n, text }).expect(200);
    await eventually('a large one is on its way', () => underWay > 0);
    for (let n = 0; n < 8; n += 1) await publish(null, `small-${n}`).expect(200);
    await eventually(
      'the small ones have arrived',
      () => receiver.received.filter(({ correlation }) => correlation.startsWith('small')).length === 8,
    );
    release.resolve();
    await eventually('all have arrived', async () => (await deliveries()).every(({ state }) => state === 'delivered'));
    // A quarter of the budget, and each counts three times.
    expect(most).toBe(1);
    const large = receiver.received.filter(({ correlation }) => correlation.startsWith('large'));
    expect(
      large
        .map(({ body }) => (JSON.parse(body) as { artifact: { payload: object } }).artifact.payload)
        .sort((a, b) => (a as { n: number }).n - (b as { n: number }).n),
    ).toEqual(Array.from({ length: 8 }, (_, n) => ({ n, text })));
  });
});
