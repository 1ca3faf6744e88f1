import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { answers, Receiver } from '../support/receiver.js';
import { Board } from './board.js';

interface Delivery {
  delivery_id: string;
  correlation_id: string;
  state: string;
  attempt: number;
  last_error?: string;
}

const MINUTE_MS = 60_000;
const TRIES_AT = [1, 5, 20].map((minutes) => minutes * MINUTE_MS);
const LAST_TRY_MS = TRIES_AT.at(-1)!;
const ALL_TRIES = TRIES_AT.length + 1;
const ALONE = 30;
/** More than one step processes. */
const PARTS = 120;
const CONFIG = `
types: { Order: {} }
agents:
  packer:
    consumes: [{ types: [Order], tags: [pack] }]
    publishes: [{ type: Packed }]
    engine: { kind: expression, expression: '[${Array.from({ length: PARTS }, (_, n) => `{"n": ${n}.0}`).join()}]' }
`;
const GIVEN_UP =
  /^its target has not answered since 2026-11-20T\d\d:\d\d:\d\d\.\d{3}Z: all attempts of another delivery failed while this one waited$/;

const isGivenUp = ({ last_error }: Delivery): boolean => GIVEN_UP.test(last_error ?? '');

// Uses the service, its database and the receiver; time stands still until a test moves it.
describe('deliveries that wait for a target', () => {
  const clock = new ManualClock();
  let board: Board;
  let receiver: Receiver;

  beforeAll(async () => {
    receiver = await Receiver.start();
    board = await Board.start(CONFIG, {
      clock,
      settings: { outboundAllow: ['127.0.0.0/8'], webhookRetries: TRIES_AT },
    });
  });
  afterAll(async () => {
    await receiver.close();
    await board.close();
  });

  async function publish(path: string, tags: string[] = []): Promise<string> {
    const response = await board.http
      .post('/api/v1/artifacts')
      .send({ type: 'Order', tags, webhook: { url: receiver.url(path) } })
      .expect(200);
    return response.headers['x-correlation-id'] as string;
  }

  /** Publishes each in a separate correlation, and one correlation with many. */
  async function publishMany(path: string): Promise<void> {
    for (let n = 0; n < ALONE; n += 1) await publish(path);
    await board.ended(await publish(path, ['pack']));
  }

  async function deliveries(query: object): Promise<Delivery[]> {
    const { body } = await board.http
      .get('/api/v1/webhooks/deliveries')
      .query({ limit: 500, ...query })
      .expect(200);
    return (body as { items: Delivery[] }).items;
  }

  /** Advances in steps that leave running deliveries their time. */
  async function advanceUntil(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    await eventually(what, async () => {
      if (await holds()) return true;
      if ((await deliveries({ state: 'running' })).length === 0) clock.advance(MINUTE_MS);
      return false;
    });
  }

  it('are dead when the target has answered none for as long as all tries of one delivery last; younger ones continue', async () => {
    const path = '/silent';
    receiver.on(path, answers(503));
    const start = clock.now();
    await publishMany(path);
    await advanceUntil('half of that time has passed', () => clock.now() >= start + LAST_TRY_MS / 2);
    const younger = await publish(path);
    const deadBefore = async (): Promise<Delivery[]> =>
      (await deliveries({ state: 'dead' })).filter(({ correlation_id }) => correlation_id !== younger);
    await advanceUntil('some are given up', async () => (await deadBefore()).some(isGivenUp));
    expect(['pending', 'running']).toContain((await deliveries({ correlation_id: younger }))[0]!.state);
    await advanceUntil('all from before it are dead', async () => (await deadBefore()).length === ALONE + 1 + PARTS);

    const dead = await deadBefore();
    const tried = dead.filter(({ attempt }) => attempt === ALL_TRIES);
    const givenUp = dead.filter(isGivenUp);
    expect(clock.now() - start).toBeGreaterThanOrEqual(0.8 * LAST_TRY_MS);
    expect(tried.length).toBeGreaterThan(0);
    expect(new Set([...tried, ...givenUp]).size).toBe(ALONE + 1 + PARTS);
    // Their own tries alone would take as many minutes.
    expect(receiver.at(path).length).toBeLessThan((ALONE * ALL_TRIES) / 2);
    expect(clock.now() - start).toBeLessThan((ALONE * ALL_TRIES * MINUTE_MS) / 2);

    await eventually('the metrics count it', async () => {
      const { text } = await board.http.get('/metrics').expect(200);
      const value = (sample: string): number =>
        Number(
          text
            .split('\n')
            .find((line) => line.startsWith(`${sample} `))!
            .split(' ')[1],
        );
      const [deadNow, pendingNow] = await Promise.all(
        ['dead', 'pending'].map(async (state) => (await deliveries({ state })).length),
      );
      return (
        value('starling_dead_deliveries_total') === deadNow &&
        value('starling_deliveries{state="pending"}') === pendingNow
      );
    });

    const [again] = givenUp;
    await board.http.post(`/api/v1/webhooks/deliveries/${again!.delivery_id}/redeliver`).expect(200);
    receiver.on(path, answers(200));
    await advanceUntil('the one sent again is delivered', async () =>
      (await deliveries({ state: 'delivered' })).some(({ delivery_id }) => delivery_id === again!.delivery_id),
    );
    expect(board.app.logLines.filter(({ failing_since }) => failing_since !== undefined)).not.toEqual([]);
  });

  it('are tried again once the target answers, however long it failed before', async () => {
    const path = '/flaky';
    receiver.on(path, answers(503));
    const start = clock.now();
    await publishMany(path);
    const id = (await deliveries({ state: 'pending' }))[0]!.delivery_id;
    const { target_id } = (await board.http.get(`/api/v1/webhooks/deliveries/${id}`)).body as { target_id: string };
    await advanceUntil('half of that time has passed', () => clock.now() >= start + LAST_TRY_MS / 2);
    let hasAnswered = false;
    const answerOne = (): void => {
      hasAnswered = false;
      receiver.on(path, (response, received) => {
        hasAnswered = true;
        answers(200)(response, received);
        receiver.on(path, answers(503));
      });
    };
    answerOne();
    await advanceUntil('one is delivered', async () => {
      const wasAnswered = hasAnswered;
      const running = await deliveries({ target_id, state: 'running' });
      if ((await deliveries({ target_id, state: 'delivered' })).length === 1) return true;
      // The clock may have passed the timeout of that delivery before its answer was read.
      if (wasAnswered && running.length === 0) answerOne();
      return false;
    });
    await advanceUntil('some are dead', async () => (await deliveries({ target_id, state: 'dead' })).length > 0);
    const dead = await deliveries({ target_id, state: 'dead' });
    expect(dead.map(({ attempt }) => attempt)).toEqual(dead.map(() => ALL_TRIES));
    expect(await deliveries({ target_id, state: 'delivered' })).toHaveLength(1);
    await advanceUntil('others were given up too', async () =>
      (await deliveries({ target_id, state: 'dead' })).some(isGivenUp),
    );
    expect(clock.now() - start).toBeGreaterThanOrEqual(1.5 * LAST_TRY_MS);
  });
});
