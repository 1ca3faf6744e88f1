import { createServer } from 'node:net';

import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { answers, type Behaviour, Receiver } from '../support/receiver.js';
import { Board } from './board.js';

interface Delivery {
  delivery_id: string;
  state: string;
  sequence: number;
  attempt: number;
  next_attempt_at?: string;
  last_status?: number;
  last_error?: string;
  attempts: { attempt: number; started_at: string; status?: number; error?: string }[];
}

const CONFIG = 'types: { Order: {} }\nagents: {}\n';
/** Seconds between one try and the next, as in docs/webhooks.md after the first. */
const PAUSES = [5, 25, 90, 480, 3_000, 18_000];
const HANGS: Behaviour = () => undefined;
const RESETS: Behaviour = (response) => response.destroy();
const ANSWERS_NO_HTTP: Behaviour = (response) => response.socket!.end('what?\r\n\r\n');

// Uses the service, its database and the receivers' HTTP; time stands still until a test moves it.
describe('a delivery', () => {
  const clock = new ManualClock();
  let board: Board;
  let receiver: Receiver;
  let paths = 0;
  const newPath = (): string => `/hook-${(paths += 1)}`;

  beforeAll(async () => {
    receiver = await Receiver.start();
    board = await Board.start(CONFIG, { clock, settings: { outboundAllow: ['127.0.0.0/8'] } });
  });

  afterAll(async () => {
    await receiver.close();
    await board.close();
  });

  /** Returns the correlation. */
  async function publish(url: string, correlation?: string): Promise<string> {
    const call = board.http.post('/api/v1/artifacts').send({ type: 'Order', payload: { n: 1 }, webhook: { url } });
    if (correlation) call.set('X-Correlation-ID', correlation);
    return (await call.expect(200)).headers['x-correlation-id'] as string;
  }

  /** Returns the deliveries of a correlation, in their order. */
  async function deliveries(correlation: string): Promise<Delivery[]> {
    const list = await board.http
      .get('/api/v1/webhooks/deliveries')
      .query({ correlation_id: correlation, limit: 100 })
      .expect(200);
    const ids = (list.body as { items: Delivery[] }).items.map(({ delivery_id }) => delivery_id).reverse();
    return Promise.all(
      ids.map(async (id) => (await board.http.get(`/api/v1/webhooks/deliveries/${id}`).expect(200)).body as Delivery),
    );
  }

  async function delivery(
    correlation: string,
    holds: (delivery: Delivery) => boolean,
    what: string,
  ): Promise<Delivery> {
    let found: Delivery | undefined;
    await eventually(`the delivery ${what}`, async () => {
      [found] = await deliveries(correlation);
      return found !== undefined && holds(found);
    });
    return found!;
  }

  const ended = (correlation: string, state: string): Promise<Delivery> =>
    delivery(correlation, (found) => found.state === state, `is ${state}`);
  const triedAgainLater = (correlation: string, attempt: number): Promise<Delivery> =>
    delivery(
      correlation,
      (found) => found.attempt === attempt && found.next_attempt_at !== undefined,
      `waits for try ${attempt}`,
    );
  const moveTo = (time: string): void => clock.advance(Date.parse(time) - clock.now());

  it('that fails is tried on schedule, with the same id and the same bytes, and is then dead', async () => {
    const path = newPath();
    receiver.on(path, answers(500));
    const correlation = await publish(receiver.url(path));
    for (const [index, pause] of PAUSES.entries()) {
      const { next_attempt_at, attempts } = await triedAgainLater(correlation, index + 2);
      const waits = (Date.parse(next_attempt_at!) - Date.parse(attempts.at(-1)!.started_at)) / 1_000;
      expect(waits).toBeGreaterThanOrEqual(pause * 0.8);
      expect(waits).toBeLessThanOrEqual(pause * 1.2);
      moveTo(next_attempt_at!);
      await eventually('it was tried again', () => receiver.at(path).length === index + 2);
    }
    const dead = await ended(correlation, 'dead');
    expect(dead).toMatchObject({ attempt: 7, last_status: 500, last_error: `127.0.0.1:${receiver.port} answered 500` });
    expect(dead.attempts.map(({ attempt, status }) => [attempt, status])).toEqual(
      [1, 2, 3, 4, 5, 6, 7].map((attempt) => [attempt, 500]),
    );
    const [first, ...others] = receiver.at(path);
    expect(first!.id).toBe(dead.delivery_id);
    for (const { id, body } of others) expect([id, body]).toEqual([first!.id, first!.body]);
  });

  it('to a receiver that is down for an hour arrives with the next try of the schedule, and later ones follow in order', async () => {
    const path = newPath();
    const start = clock.now();
    const well = start + 3_600_000;
    const tries: { at: number; sequence: number }[] = [];
    receiver.on(path, (response, received) => {
      tries.push({ at: clock.now(), sequence: received.sequence });
      answers(clock.now() < well ? 503 : 200)(response, received);
    });
    const correlation = await publish(receiver.url(path));
    for (let n = 0; n < 2; n += 1) await publish(receiver.url(path), correlation);
    for (let attempt = 2; clock.now() < well; attempt += 1)
      moveTo((await triedAgainLater(correlation, attempt)).next_attempt_at!);
    await eventually('all are delivered', async () =>
      (await deliveries(correlation)).every(({ state }) => state === 'delivered'),
    );

    const ofFirst = tries.filter(({ sequence }) => sequence === 1).map(({ at }) => at);
    const pauses = ofFirst.slice(1).map((at, index) => (at - ofFirst[index]!) / 1_000 / PAUSES[index]!);
    for (const pause of pauses) expect(Math.abs(pause - 1)).toBeLessThanOrEqual(0.2);
    // Six or seven in total, because the one after about an hour falls just before or after its end.
    expect(ofFirst.filter((at) => at >= well)).toHaveLength(1);
    expect(tries.map(({ sequence }) => sequence)).toEqual([...ofFirst.map(() => 1), 2, 3]);
    expect((await deliveries(correlation)).map(({ attempt }) => attempt)).toEqual([ofFirst.length, 1, 1]);
  });

  it.each<[string, Behaviour, number | undefined, RegExp]>([
    ['answers 500', answers(500), 500, /answered 500$/],
    ['answers 404', answers(404), 404, /answered 404$/],
    ['redirects', answers(307, { location: '/elsewhere' }), 307, /answered 307, and redirects are not followed$/],
    ['closes the connection', RESETS, undefined, /the connection was closed before an answer came$/],
    ['does not answer with HTTP', ANSWERS_NO_HTTP, undefined, /its answer is not valid HTTP$/],
  ])('to a receiver that %s is tried again', async (_what, behaviour, status, error) => {
    const path = newPath();
    receiver.on(path, behaviour);
    const correlation = await publish(receiver.url(path));
    await eventually('it has arrived', () => receiver.at(path).length === 1);
    const { attempts, next_attempt_at } = await triedAgainLater(correlation, 2);
    expect(attempts).toHaveLength(1);
    expect(attempts[0]!.status).toBe(status);
    expect(attempts[0]!.error).toMatch(error);
    receiver.on(path, answers(204));
    moveTo(next_attempt_at!);
    expect((await ended(correlation, 'delivered')).attempts.map((each) => each.status)).toEqual([status, 204]);
    expect(receiver.at('/elsewhere')).toEqual([]);
  });

  it('to a receiver that hangs is aborted after 10 s, and tried again immediately, because its time has come', async () => {
    const path = newPath();
    receiver.on(path, HANGS);
    const correlation = await publish(receiver.url(path));
    await eventually('it has arrived', () => receiver.at(path).length === 1);
    receiver.on(path, answers(200));
    clock.advance(9_999);
    expect((await deliveries(correlation))[0]).toMatchObject({ state: 'running', attempt: 1, attempts: [] });
    clock.advance(1);
    const { attempts } = await ended(correlation, 'delivered');
    expect(attempts).toMatchObject([
      { attempt: 1, error: `127.0.0.1:${receiver.port}: no answer within 10000 ms` },
      { attempt: 2, status: 200 },
    ]);
  });

  it('to a closed port is tried again, and arrives when a receiver listens', async () => {
    const gone = await Receiver.start();
    const { port } = gone;
    await gone.close();
    const correlation = await publish(`http://127.0.0.1:${port}/hook`);
    const { attempts, next_attempt_at } = await triedAgainLater(correlation, 2);
    expect(attempts[0]!.error).toBe(`127.0.0.1:${port}: the connection was refused`);
    const back = await Receiver.start(port);
    moveTo(next_attempt_at!);
    await ended(correlation, 'delivered');
    expect(back.received.map(({ sequence }) => sequence)).toEqual([1]);
    await back.close();
  });

  it('to a receiver that is gone (410) is dead immediately, and the next delivery is sent', async () => {
    const path = newPath();
    receiver.on(path, (response, { sequence }) =>
      answers(sequence === 1 ? 410 : 200)(response, receiver.at(path).at(-1)!),
    );
    const correlation = await publish(receiver.url(path));
    const { attempts } = await ended(correlation, 'dead');
    expect(attempts).toMatchObject([{ attempt: 1, status: 410 }]);
    await publish(receiver.url(path), correlation);
    await eventually('the next is delivered', async () => (await deliveries(correlation))[1]?.state === 'delivered');
    expect(receiver.at(path).map(({ sequence }) => sequence)).toEqual([1, 2]);
  });

  it.each<[string, () => string]>([
    ['in seconds', () => '1800'],
    ['as a date', () => new Date(clock.now() + 1_800_000).toUTCString()],
  ])('waits as long as the receiver asks for, %s', async (_form, header) => {
    const path = newPath();
    receiver.on(path, answers(429, { 'retry-after': header() }));
    const correlation = await publish(receiver.url(path));
    const { attempts, next_attempt_at } = await triedAgainLater(correlation, 2);
    const waits = (Date.parse(next_attempt_at!) - Date.parse(attempts[0]!.started_at)) / 1_000;
    expect(Math.round(waits)).toBeGreaterThanOrEqual(1_799);
    expect(Math.round(waits)).toBeLessThanOrEqual(1_800);
    receiver.on(path, answers(200));
    moveTo(next_attempt_at!);
    await ended(correlation, 'delivered');
  });

  it('is delivered if the answer does not end: 64 KiB of it are read, and the connection is closed', async () => {
    const path = newPath();
    let written = 0;
    let hasClosed = false;
    receiver.on(path, (response) => {
      const chunk = Buffer.alloc(65_536, 'x');
      response.writeHead(200, { 'content-length': String(2 ** 30) });
      const write = (): void => {
        while (!hasClosed && written < 2 ** 30 && response.write(chunk)) written += chunk.length;
      };
      response.on('drain', write).on('close', () => {
        hasClosed = true;
      });
      write();
    });
    const correlation = await publish(receiver.url(path));
    await ended(correlation, 'delivered');
    await eventually('the connection is closed', () => hasClosed);
    // The buffers between them are full before the client can stop.
    expect(written).toBeLessThan(32 * 1_024 * 1_024);
  });

  describe('in the order of its correlation', () => {
    it('waits for those before it, however often they are tried, while other correlations continue', async () => {
      const path = newPath();
      receiver.on(path, (response, received) =>
        answers(received.correlation === 'held-up' && receiver.at(path).filter(isHeldUp).length <= 2 ? 503 : 200)(
          response,
          received,
        ),
      );
      for (let n = 0; n < 4; n += 1) await publish(receiver.url(path), 'held-up');
      const other = await publish(receiver.url(path));
      await ended(other, 'delivered');
      for (const attempt of [2, 3]) {
        const { next_attempt_at } = await triedAgainLater('held-up', attempt);
        expect((await deliveries('held-up')).slice(1).map(({ state }) => state)).toEqual([
          'waiting',
          'waiting',
          'waiting',
        ]);
        moveTo(next_attempt_at!);
      }
      await eventually('all are delivered', async () =>
        (await deliveries('held-up')).every(({ state }) => state === 'delivered'),
      );
      expect(
        receiver
          .at(path)
          .filter(isHeldUp)
          .map(({ sequence }) => sequence),
      ).toEqual([1, 1, 1, 2, 3, 4]);
    });

    const isHeldUp = ({ correlation }: { correlation: string }): boolean => correlation === 'held-up';
  });

  it('is not delayed by receivers that hang, none of which takes more than the share of a target or a host', async () => {
    const silent = createServer();
    let connections = 0;
    silent.on('connection', () => (connections += 1));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const slow = await Promise.all(Array.from({ length: 20 }, () => publish(`http://127.0.0.1:${port}/`)));
    await eventually('one target has its maximum of running deliveries', () => connections === 16);
    slow.push(...(await Promise.all(Array.from({ length: 60 }, (_, n) => publish(`http://127.0.0.1:${port}/${n}`)))));
    await eventually('one host has its maximum of running deliveries', () => connections === 64);

    const path = newPath();
    await ended(await publish(receiver.url(path)), 'delivered');
    expect(receiver.at(path)).toHaveLength(1);
    expect(connections).toBe(64);
    const states = (await Promise.all(slow.map(deliveries))).map(([only]) => only!.state);
    expect(states.filter((state) => state === 'running')).toHaveLength(64);
    silent.close();
    clock.advance(10_000);
    await eventually('all have been aborted once, or wait', async () =>
      (await Promise.all(slow.map(deliveries))).every(([only]) => only!.state === 'pending'),
    );
  });

  it('is not delayed by many failing ones to another path of its host', async () => {
    const [dead, well] = [newPath(), newPath()];
    receiver.on(dead, answers(503));
    for (let n = 0; n < 20; n += 1) await publish(receiver.url(dead));
    await eventually('the dead one has been tried', () => receiver.at(dead).length >= 5);
    await ended(await publish(receiver.url(well)), 'delivered');
  });
});

// Tried every minute, so that only the circuit breaker limits the tries.
describe('thirty deliveries to a target that is down for an hour', () => {
  const clock = new ManualClock();
  const COUNT = 30;
  const PATH = '/hook';
  let board: Board;
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await Receiver.start();
    const webhookRetries = Array.from({ length: 200 }, (_, n) => (n + 1) * 60_000);
    board = await Board.start(CONFIG, { clock, settings: { outboundAllow: ['127.0.0.0/8'], webhookRetries } });
  });

  afterAll(async () => {
    await receiver.close();
    await board.close();
  });

  const countOf = async (state: string): Promise<number> =>
    (
      (await board.http.get('/api/v1/webhooks/deliveries').query({ state, limit: 100 }).expect(200)).body as {
        items: unknown[];
      }
    ).items.length;

  /** Advances in steps that leave running deliveries their time. */
  async function advanceUntil(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    await eventually(what, async () => {
      if ((await countOf('running')) === 0) clock.advance(30_000);
      return holds();
    });
  }

  it('cost it one try a minute, and all arrive soon after it recovers', async () => {
    receiver.on(PATH, answers(503));
    // Each is in a separate correlation, so that none waits for another.
    for (let n = 0; n < COUNT; n += 1)
      await board.http
        .post('/api/v1/artifacts')
        .send({ type: 'Order', webhook: { url: receiver.url(PATH) } })
        .expect(200);
    const start = clock.now();
    await advanceUntil('an hour has passed', () => clock.now() >= start + 3_600_000);
    // The tries before the breaker opened, after growing pauses, and one a minute; not 1,800.
    expect(receiver.received.length).toBeGreaterThan(30);
    expect(receiver.received.length).toBeLessThan(120);

    receiver.on(PATH, answers(200));
    const well = clock.now();
    await advanceUntil('all are delivered', async () => (await countOf('delivered')) === COUNT);
    expect(clock.now() - well).toBeLessThan(5 * 60_000);
  });
});
