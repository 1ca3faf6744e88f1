// Agents with `fair_by` whose executions wait for limits. Uses the whole app over HTTP on a database. The clock is faked.
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { printedSeed, Random } from '../support/random.js';
import { Board } from './board.js';
import { type Held, Outside } from './outside.js';

const MINUTE = 60_000;
const CONFIG = `
limits:
  pool: { concurrency: 1 }
  pace: { rate: 1/1m }
  paid: { rate: 10/1m, units: payload.cost, burst: 10 }
agents:
  spread: { consumes: [{ types: [Bulk] }], publishes: [{ type: Item }], engine: { kind: expression, expression: payload.items } }
  holder: { consumes: [{ types: [Hold] }], limits: [pool], engine: { kind: external } }
${['pool', 'pace', 'paid']
  .map(
    (limit) => `
  ${limit}_worker:
    consumes: [{ types: [Item], where: "payload.to == '${limit}'", priority: payload.urgent }]
    fair_by: payload.tenant
    weight: payload.weight
    limits: [${limit}]
    engine: { kind: function, module: ./worker.js }`,
  )
  .join('')}
  plain: { consumes: [{ types: [Item], where: "payload.to == 'plain'" }], limits: [pool], engine: { kind: function, module: ./worker.js } }
`;
const WORKER = `globalThis.startsInLines ??= [];
export default async ([{ payload }]) => { globalThis.startsInLines.push(payload); return null; };`;

interface Item {
  tenant: string;
  n: number;
  to: string;
  weight: number;
  cost: number;
  urgent: number;
}

const starts = (): Item[] => ((globalThis as unknown as { startsInLines?: Item[] }).startsInLines ??= []);

const items = (tenant: string, count: number, more: Partial<Item> = {}): Item[] =>
  Array.from({ length: count }, (_, n) => ({ tenant, n, to: 'pool', weight: 1, cost: 1, urgent: 0, ...more }));

/**
 * Returns a line for each key that waits for too many starts of another one. All wait from the beginning. Executions that are
 * let go together may start in either order, which costs a start more.
 */
function unfair(all: readonly Item[]): string[] {
  const weights = new Map(all.map(({ tenant, weight }) => [tenant, weight]));
  return [...weights].flatMap(([tenant, weight]) => {
    const own = [-1, ...all.flatMap((item, index) => (item.tenant === tenant ? [index] : []))];
    return own.slice(1).flatMap((at, index) => {
      const between = Map.groupBy(all.slice(own[index]! + 1, at), (item) => item.tenant);
      return [...between]
        .filter(([other, some]) => some.length > Math.floor(weights.get(other)! / weight) + 2)
        .map(([other, some]) => `${some.length} of ${other} start before the one of ${tenant} at ${at}`);
    });
  });
}

describe('executions of an agent with fair_by that wait for a limit', () => {
  const clock = new ManualClock();
  let board: Board;
  let outside: Outside;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { clock, files: { 'worker.js': WORKER }, settings: { leaseMs: 1_000 * MINUTE } });
    outside = new Outside(board.http);
  });
  afterAll(() => board?.close());

  beforeEach(() => {
    starts().length = 0;
  });

  const holdPool = async (): Promise<Held> => {
    await board.publish('Hold', {});
    return outside.claimOne({ agents: ['holder'] });
  };

  const waitFor = (limit: string, count: number): Promise<void> =>
    eventually(`${count} wait for ${limit}`, async () => {
      const { body } = await board.http.get(`/api/v1/limits/${limit}`).expect(200);
      return (body as { waiting: number }).waiting === count;
    });

  const publish = async (...lists: Item[][]): Promise<void> => {
    for (const list of lists) await board.publish('Bulk', { items: list });
  };

  const allStarted = (count: number): Promise<void> =>
    eventually(`${count} have started`, () => starts().length === count);

  const noKeys = (): Promise<void> =>
    eventually('no key has a row', async () => (await board.app.database.rows('select * from fair_keys')).length === 0);

  it.each([1, 2, 8])('start in turns, although one key has many, with a concurrency of %i', async (concurrency) => {
    const held = await holdPool();
    await publish(items('A', 200), items('B', 6), items('C', 3));
    await waitFor('pool', 209);
    await board.http.put('/api/v1/limits/pool').send({ concurrency }).expect(200);
    await outside.send(held, 'complete', { outputs: [] });
    await allStarted(209);
    if (concurrency === 1) expect(unfair(starts())).toEqual([]);
    for (const [tenant, count] of Object.entries({ B: 6, C: 3 }))
      expect(starts().findLastIndex((item) => item.tenant === tenant)).toBeLessThanOrEqual(3 * count + 2 * concurrency);
    await board.http.delete('/api/v1/limits/pool').expect(200);
    await noKeys();
    expect(await board.app.database.rows(`select * from fair_agents where agent like '%pool"%'`)).toEqual([]);
  });

  it('share the starts by random weights', async () => {
    const random = new Random(printedSeed());
    for (let round = 0; round < 4; round += 1) {
      starts().length = 0;
      const held = await holdPool();
      const lists = ['A', 'B', 'C', 'D', 'E'].map((tenant, index) =>
        items(tenant, index === 0 ? 60 : random.between(1, 12), { weight: [0.5, 1, 2, 3][random.between(0, 3)]! }),
      );
      const count = lists.flat().length;
      await publish(...lists);
      await waitFor('pool', count);
      await outside.send(held, 'complete', { outputs: [] });
      await allStarted(count);
      expect(unfair(starts())).toEqual([]);
    }
  });

  it('start in turns as the rate lets them', async () => {
    await publish(items('A', 40, { to: 'pace' }));
    await waitFor('pace', 39);
    await publish(items('B', 3, { to: 'pace' }), items('C', 2, { to: 'pace' }));
    await waitFor('pace', 44);
    starts().length = 0;
    for (let count = 1; count <= 9; count += 1) {
      clock.advance(MINUTE);
      await allStarted(count);
    }
    expect(unfair(starts())).toEqual([]);
    expect(starts().filter(({ tenant }) => tenant !== 'A')).toHaveLength(5);
    await board.http.put('/api/v1/limits/pace').send({}).expect(200);
    await allStarted(44);
  });

  it('wait for the units of the one whose turn it is', async () => {
    await publish(items('A', 1, { to: 'paid', cost: 10 }));
    await allStarted(1);
    await publish(items('A', 5, { to: 'paid', cost: 10 }));
    await waitFor('paid', 5);
    await publish(items('B', 4, { to: 'paid', cost: 1 }));
    await waitFor('paid', 9);
    // The first turn of the line is A's, the next one is B's, and costs only a tenth.
    clock.advance(MINUTE);
    await allStarted(2);
    clock.advance(MINUTE / 10);
    await allStarted(3);
    expect(starts().map(({ tenant }) => tenant)).toEqual(['A', 'A', 'B']);
    await board.http.put('/api/v1/limits/paid').send({}).expect(200);
    await allStarted(10);
  });

  it('start by priority within their key, and by age between agents', async () => {
    const held = await holdPool();
    await publish(items('A', 4), items('A', 1, { n: 9, urgent: 5 }));
    await waitFor('pool', 5);
    for (const n of [0, 1]) await board.publish('Item', items('plain', 1, { to: 'plain', n })[0]!);
    await waitFor('pool', 7);
    const id = await board.publish('Bulk', { items: items('B', 3) });
    await waitFor('pool', 10);
    const { body } = await board.http.get(`/api/v1/correlations/${id}/waiting`).expect(200);
    expect(JSON.stringify(body)).toContain('limit pool: 1 of 1 used, 2nd of 3 with the key \\"B\\", 2 keys take turns');
    await outside.send(held, 'complete', { outputs: [] });
    await allStarted(10);
    const order = starts().map(({ tenant, n }) => tenant + n);
    // The places of an agent are those of its first executions, whatever their keys.
    expect(order.slice(8)).toEqual(['plain0', 'plain1']);
    expect(order.filter((one) => one.startsWith('A'))).toEqual(['A9', 'A0', 'A1', 'A2', 'A3']);
    expect(unfair(starts().slice(0, 8))).toEqual([]);
  });

  it('all start, although others took the room that a key was given', async () => {
    const held = await holdPool();
    const few = { weight: 0.25 };
    await publish(items('A', 1, few), items('B', 1));
    await waitFor('pool', 2);
    await board.http.post('/api/v1/agents/pool_worker/pause').expect(200);
    // The first of A is let go. Its line has no other one of A, and forgets its turns.
    await outside.send(held, 'complete', { outputs: [] });
    await board.publish('Hold', {});
    let other: Held | undefined;
    await eventually('another agent has taken the room', async () => {
      [other] = await outside.claim({ agents: ['holder'] });
      return other !== undefined;
    });
    await board.publish('Item', items('plain', 1, { to: 'plain' })[0]!);
    await waitFor('pool', 1);
    await publish(items('A', 3, few), items('B', 3));
    await waitFor('pool', 7);
    await board.http.post('/api/v1/agents/pool_worker/resume').expect(200);
    await waitFor('pool', 9);
    await outside.send(other!, 'complete', { outputs: [] });
    await allStarted(9);
    await noKeys();
  });

  it('leave no key behind when they are cancelled', async () => {
    const held = await holdPool();
    const id = await board.publish('Bulk', { items: [...items('A', 3), ...items('B', 3)] });
    await waitFor('pool', 6);
    await board.http.post(`/api/v1/correlations/${id}/cancel`).expect(200);
    await waitFor('pool', 0);
    await outside.send(held, 'complete', { outputs: [] });
    clock.advance(MINUTE);
    await noKeys();
  });
});

describe('executions that wait for a limit since before their agent had fair_by', () => {
  const folder = new ConfigurationFolder();
  let board: Board;
  let outside: Outside;

  const start = async (more: string): Promise<void> => {
    await board?.close();
    const agent = `consumes: [{ types: [Task], priority: payload.urgent }], limits: [desk], ${more}engine: { kind: external }`;
    const config = `limits: { desk: { concurrency: 1 } }\nagents:\n  person: { ${agent} }\n`;
    board = await Board.start(config, { folder: folder.path });
    outside = new Outside(board.http);
  };
  afterAll(async () => {
    await board?.close();
    await board?.app.database.drop();
    folder.remove();
  });

  const publish = (name: string, tenant: string, urgent = 0): Promise<string> =>
    board.publish('Task', { tenant, urgent }, { correlation: name });

  const wait = (count: number): Promise<void> =>
    eventually(`${count} wait`, async () => {
      expect(await outside.claim({ agents: ['person'] })).toEqual([]);
      return (await board.http.get('/api/v1/limits/desk').expect(200)).body.waiting === count;
    });

  it('start by priority and age, whatever their keys, and so do those that come later', async () => {
    await start('');
    await publish('first', 'a');
    let held = await outside.claimOne({ agents: ['person'] });
    for (const [name, tenant] of [
      ['old-1', 'a'],
      ['old-2', 'a'],
      ['old-3', 'b'],
    ] as const)
      await publish(name, tenant);
    await publish('urgent', 'b', 5);
    await wait(4);
    await start('fair_by: payload.tenant, ');
    for (const name of ['new-1', 'new-2']) await publish(name, 'c');
    await wait(6);
    const order: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      await outside.send(held, 'complete', { outputs: [] });
      held = await outside.claimOne({ agents: ['person'], wait: 60 });
      order.push(held.correlation_id);
    }
    expect(order.filter((name) => !name.startsWith('new'))).toEqual(['urgent', 'old-1', 'old-2', 'old-3']);
    expect(order.filter((name) => name.startsWith('new'))).toEqual(['new-1', 'new-2']);
  });
});
