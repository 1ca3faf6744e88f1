import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { printedSeed, Random } from '../support/random.js';
import { orders } from './batch-board.js';
import { type Board, tally } from './board.js';
import { Replicas, WORKER } from './replica-boards.js';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;

const CONFIG = `
agents:
  pairer:
    consumes: [{ types: [Left, Right], join: { by: payload.key } }]
    publishes: [{ type: Pair }]
    engine: { kind: expression, expression: '{"key": payload.Left.key, "left": payload.Left.n, "right": payload.Right.n}' }
  hurried:
    consumes: [{ types: [Question, Answer], join: { by: payload.n, within: 5m } }]
    publishes: [{ type: Asked }]
    engine: { kind: expression, expression: '{"n": payload.Question.n}' }
  judge:
    consumes: [{ types: [Claim, Proof], where: payload.Claim.n == payload.Proof.n, join: { by: payload.key } }]
    publishes: [{ type: Verdict }]
    engine: { kind: expression, expression: '{"n": payload.Claim.n}' }
  sized:
    consumes: [{ types: [Item], batch: { size: 5 } }]
    publishes: [{ type: Pack }]
    engine: { kind: expression, expression: '{"items": payload.map(item, item.n)}' }
  timed:
    consumes: [{ types: [Event], batch: { size: 100, timeout: 30s } }]
    publishes: [{ type: Digest }]
    engine: { kind: expression, expression: '{"events": payload.map(event, event.n)}' }
  later:
    consumes: [{ types: [Secret] }]
    publishes: [{ type: Revealed }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  shaky:
    consumes: [{ types: [Shaky] }]
    publishes: [{ type: Steady }]
    engine: { kind: function, module: ./shaky.js }
    retry: { attempts: 3, delay: 1m, max_delay: 1m }
`;

/** Fails twice, and records every invocation. */
const SHAKY = `export default ([{ payload }], { attempt }) => {
  (globalThis.shakyCalls ??= []).push(payload.n + '.' + attempt);
  if (attempt < 3) throw new Error('not yet');
  return { n: payload.n };
};`;

const shakyCalls = (): string[] => (globalThis as unknown as { shakyCalls?: string[] }).shakyCalls ?? [];

/**
 * Uses three apps over HTTP on one Postgres, and their wake-ups. The clock is faked and shared by all of them, so that
 * they find the same timers due at the same moment. Leases outlast every step of it.
 */
describe('three processes', () => {
  const replicas = new Replicas();
  const clock = new ManualClock();
  const boards: Board[] = [];
  const random = new Random(printedSeed());

  beforeAll(async () => {
    for (let n = 0; n < 3; n += 1)
      boards.push(
        await replicas.start(CONFIG, {
          files: { 'shaky.js': SHAKY },
          role: WORKER,
          clock,
          settings: { leaseMs: 10 * DAY },
        }),
      );
  });

  afterAll(() => replicas.close());

  const any = (): Board => boards[random.between(0, boards.length - 1)]!;

  const payloads = async <T>(type: string): Promise<T[]> => {
    const { body } = await any().http.get('/api/v1/artifacts').query({ type, limit: 500 }).expect(200);
    return (body as { items: { payload: T }[] }).items.map(({ payload }) => payload);
  };

  const count = (type: string, expected: number): Promise<void> =>
    eventually(`${expected} ${type}`, async () => (await payloads(type)).length >= expected);

  /** Publishes one after another, each on a different process. */
  async function publishInOrder(type: string, list: object[], parts: object = {}): Promise<string[]> {
    const ids: string[] = [];
    for (const payload of list) ids.push(await any().publish(type, payload, parts));
    return ids;
  }

  it('join first in first out, whichever process receives the halves', async () => {
    const keys = ['x', 'y', 'z', 'w'];
    const halves = keys.flatMap((key) => [
      publishInOrder('Left', orders(10, { key })),
      publishInOrder('Right', orders(10, { key })),
    ]);
    await Promise.all(halves);
    await count('Pair', 40);
    const pairs = await payloads<{ key: string; left: number; right: number }>('Pair');
    for (const key of keys) {
      const ofKey = pairs.filter((pair) => pair.key === key).map(({ left, right }) => [left, right]);
      expect(ofKey.sort(([one], [other]) => one! - other!)).toEqual(orders(10).map((_, n) => [n, n]));
    }
    expect(pairs).toHaveLength(40);
  });

  it('join each artifact once when all are published together', async () => {
    const key = 'crowd';
    await Promise.all(
      orders(40, { key }).flatMap((order) => [any().publish('Left', order), any().publish('Right', order)]),
    );
    const crowdPairs = async () =>
      (await payloads<{ key: string; left: number; right: number }>('Pair')).filter((pair) => pair.key === key);
    await eventually('all pairs have met', async () => (await crowdPairs()).length >= 40);
    const pairs = await crowdPairs();
    for (const side of ['left', 'right'] as const)
      expect(pairs.map((pair) => pair[side]).sort((one, other) => one - other)).toEqual(orders(40).map((_, n) => n));
  });

  it('evaluate `where` of a completed group once', async () => {
    // Every third pair does not match.
    const pairs = orders(30).map((_, n) => ({ key: `claim-${n}`, claim: n, proof: n % 3 === 0 ? -1 : n }));
    const ids = pairs.map(({ key }) => key);
    await Promise.all(
      pairs.flatMap(({ key, claim, proof }) => [
        any().publish('Claim', { key, n: claim }, { correlation: key }),
        any().publish('Proof', { key, n: proof }, { correlation: key }),
      ]),
    );
    for (const id of ids) await any().ended(id);
    await eventually(
      'every group is judged',
      async () => (await boards[0]!.app.database.rows('select 1 from join_groups')).length === 0,
    );
    const verdicts = await payloads<{ n: number }>('Verdict');
    expect(verdicts.map(({ n }) => n).sort((one, other) => one - other)).toEqual(
      pairs.filter(({ claim, proof }) => claim === proof).map(({ claim }) => claim),
    );
  });

  it('fill a window in the order of arrival', async () => {
    await publishInOrder('Item', orders(25));
    await count('Pack', 5);
    const packs = (await payloads<{ items: number[] }>('Pack')).map(({ items }) => items);
    expect(packs.sort(([one], [other]) => one! - other!)).toEqual(
      [0, 5, 10, 15, 20].map((first) => [0, 1, 2, 3, 4].map((n) => first + n)),
    );
  });

  it('put each artifact into one window when all are published together', async () => {
    const before = (await payloads('Pack')).length;
    await Promise.all(orders(100).map((_, n) => any().publish('Item', { n: 1_000 + n })));
    await count('Pack', before + 20);
    const packs = (await payloads<{ items: number[] }>('Pack'))
      .map(({ items }) => items)
      .filter(([first]) => first! >= 1_000);
    expect(packs.map(({ length }) => length)).toEqual(Array(20).fill(5));
    expect(packs.flat().sort((one, other) => one - other)).toEqual(orders(100).map((_, n) => 1_000 + n));
  });

  it('close a window once when its time limit passes', async () => {
    for (let round = 0; round < 5; round += 1) {
      const ids = await publishInOrder(
        'Event',
        orders(3).map((_, n) => ({ n: 10 * round + n })),
      );
      clock.advance(30_000);
      for (const id of ids) expect(await any().ended(id)).toMatchObject({ state: 'completed', error_count: 0 });
      await count('Digest', round + 1);
      expect((await payloads<{ events: number[] }>('Digest')).map(({ events }) => events)).toContainEqual([
        10 * round,
        10 * round + 1,
        10 * round + 2,
      ]);
    }
    expect(await payloads('Digest')).toHaveLength(5);
  });

  it('report an expired join once', async () => {
    const ids = await publishInOrder('Question', orders(30));
    clock.advance(5 * MINUTE);
    for (const id of ids) {
      expect(await any().ended(id)).toMatchObject({ state: 'failed', error_count: 1 });
      expect(await any().types(id)).toEqual(['Question', 'WorkflowError']);
    }
  });

  it('release an artifact once that becomes visible later', async () => {
    const ids = await publishInOrder('Secret', orders(60), { visibility: { kind: 'After', ttl: 'PT10M' } });
    expect(await payloads('Revealed')).toEqual([]);
    clock.advance(10 * MINUTE);
    for (const id of ids) {
      expect(await any().ended(id)).toMatchObject({ state: 'completed' });
      expect(await any().types(id)).toEqual(['Secret', 'Revealed']);
    }
  });

  it('make each attempt once, at its time', async () => {
    const ids = await publishInOrder('Shaky', orders(20));
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await eventually(
        `attempt ${attempt} of each`,
        () => shakyCalls().filter((call) => call.endsWith(`.${attempt}`)).length >= 20,
      );
      // Waits until the attempts are scheduled; otherwise the clock would pass their time before it is known.
      const retrying = 20 * Number(attempt < 3);
      const waiting =
        "select 1 from executions where agent = 'shaky' and state = 'pending' and available_at is not null";
      await eventually(
        'the next attempts are scheduled',
        async () => (await boards[0]!.app.database.rows(waiting)).length === retrying,
      );
      // Delays vary by a fifth.
      clock.advance(2 * MINUTE);
    }
    for (const id of ids) expect(await any().ended(id)).toMatchObject({ state: 'completed', artifact_count: 2 });
    const attempts = orders(20).flatMap((_, n) => [1, 2, 3].map((attempt) => `${n}.${attempt}`));
    expect(tally(shakyCalls())).toEqual(tally(attempts));
  });

  it('process an idempotency key once for parallel requests to all of them', async () => {
    for (const path of ['/api/v1/artifacts', '/api/v1/artifacts/sync']) {
      const body = { type: 'Left', payload: { key: `idempotent ${path}`, n: 1 } };
      const sent = orders(50).map((_, n) =>
        boards[n % 3]!.http.post(path).set('X-Idempotency-Key', 'the-same').send(body),
      );
      const answers = await eventuallyAll(sent);
      expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
      expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
      expect(new Set(answers.map(({ headers }) => headers['x-correlation-id'] as string)).size).toBe(1);
      expect(answers.filter(({ headers }) => headers['x-idempotency-replayed'] === undefined)).toHaveLength(1);
      const left = await payloads<{ key: string }>('Left');
      expect(left.filter(({ key }) => key === body.payload.key)).toHaveLength(1);
    }
  });

  /** A request that waits for another process's answer checks again by the clock, so the clock has to advance. */
  async function eventuallyAll<T>(pending: PromiseLike<T>[]): Promise<T[]> {
    let answers: T[] | undefined;
    const all = Promise.all(pending).then((answered) => (answers = answered));
    await eventually('all are answered', () => {
      clock.advance(100);
      return answers !== undefined;
    });
    return all;
  }
});
