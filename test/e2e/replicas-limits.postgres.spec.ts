import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import { GATE, gatesOf, openAll, orders, started } from './batch-board.js';
import type { Board } from './board.js';
import { Replicas, WORKER } from './replica-boards.js';

const CONCURRENCY = 5;

const configOf = (app: string): string => `
agents:
  gate:
    consumes: [{ types: [Gated] }]
    publishes: [{ type: Passed }]
    engine: { kind: function, module: ./gate.js }
    concurrency: ${CONCURRENCY}
    timeout: 1h
  stubborn:
    consumes: [{ types: [Stubborn] }]
    engine: { kind: function, module: ./stubborn.js }
    concurrency: 1
    timeout: 1h
${['one', 'two', 'three']
  .map(
    (name) => `
  ${name}:
    consumes: [{ types: [${name}] }]
    publishes: [{ type: Passed }]
    engine: { kind: function, module: ./counted-${app}.js }
    concurrency: ${CONCURRENCY}
`,
  )
  .join('')}`;

interface Count {
  now: number;
  most: number;
  ran: number[];
}

/**
 * Returns a module that counts how many of an agent, and of its app, run in parallel; the test sets how long each
 * takes.
 */
const countedIn = (app: string): string => `const counts = (globalThis.replicaCounts ??= {});
export default async ([{ type, payload }]) => {
  const both = [type, '${app}'].map((name) => (counts[payload.load + ' ' + name] ??= { now: 0, most: 0, ran: [] }));
  for (const count of both) count.most = Math.max(count.most, ++count.now);
  both[0].ran.push(payload.n);
  await new Promise((resolve) => setTimeout(resolve, payload.ms));
  for (const count of both) count.now -= 1;
  return { n: payload.n };
};`;

/** It ignores its aborted signal. */
const STUBBORN = `globalThis.stubbornReplicas ??= [];
export default ([{ correlation_id: name }]) =>
  new Promise((resolve) => globalThis.stubbornReplicas.push({ name, open: () => resolve(null) }));`;

const stubborn = (): { name: string; open(): void }[] =>
  (globalThis as unknown as { stubbornReplicas?: { name: string; open(): void }[] }).stubbornReplicas ?? [];

const countOf = (load: string, name: string): Count | undefined =>
  (globalThis as unknown as { replicaCounts?: Record<string, Count> }).replicaCounts?.[`${load} ${name}`];

/** Uses three apps over HTTP on one Postgres, and their wake-ups. The agents count in memory that the apps share. */
describe.each([100, 3])('three processes that run at most %i at a time', (maxConcurrentExecutions) => {
  const replicas = new Replicas();
  const apps = ['a', 'b', 'c'].map((app) => `${app}${maxConcurrentExecutions}`);
  const random = new Random(printedSeed());
  let boards: Board[] = [];

  beforeAll(async () => {
    for (const app of apps) {
      const files = { 'gate.js': GATE, 'stubborn.js': STUBBORN, [`counted-${app}.js`]: countedIn(app) };
      boards.push(await replicas.start(configOf(app), { files, role: WORKER, settings: { maxConcurrentExecutions } }));
    }
  });

  afterAll(async () => {
    await replicas.close();
    boards = [];
  });

  const any = (): Board => boards[random.between(0, boards.length - 1)]!;

  it.each([
    ['by all of them', any],
    ['by one of them', () => boards[0]!],
  ])('run as many of an agent as its concurrency allows: published %s', async (how, choose) => {
    const line = `${maxConcurrentExecutions} ${how}`;
    await Promise.all(orders(20, { batch: line }).map((order) => choose().publish('Gated', order)));
    for (let opened = 0; opened + CONCURRENCY <= 20; opened += 1) {
      await started(line, opened + CONCURRENCY);
      expect(gatesOf(line)).toHaveLength(opened + CONCURRENCY);
      gatesOf(line)[opened]!.open();
    }
    await openAll([line], async () => gatesOf(line).length === 20);
    expect(
      gatesOf(line)
        .map(({ n }) => n)
        .sort((one, other) => one - other),
    ).toEqual(orders(20).map((_, n) => n));
  });

  it('respect the limits of each agent and of each process under load, and run everything once', async () => {
    const load = `load ${maxConcurrentExecutions}`;
    const types = ['one', 'two', 'three'];
    const sent = types.flatMap((type) =>
      orders(60, { load }).map((order) => ({ type, order: { ...order, ms: random.between(0, 15) } })),
    );
    const ids = await Promise.all(sent.map(({ type, order }) => any().publish(type, order)));
    for (const id of ids) expect(await any().ended(id)).toMatchObject({ state: 'completed', artifact_count: 2 });
    for (const type of types) {
      expect(countOf(load, type)!.most).toBeLessThanOrEqual(CONCURRENCY);
      expect(countOf(load, type)!.ran.sort((one, other) => one - other)).toEqual(orders(60).map((_, n) => n));
    }
    for (const app of apps) expect(countOf(load, app)?.most ?? 0).toBeLessThanOrEqual(maxConcurrentExecutions);
  });

  it('pass the slot of a cancelled execution to the next, on any process', async () => {
    const line = `cancelled ${maxConcurrentExecutions}`;
    const ids = new Map<number, string>();
    for (let n = 0; n < 2 * CONCURRENCY; n += 1) {
      const { body } = await any()
        .http.post('/run/flock')
        .send({ agent_name: 'gate', inputs: { n, batch: line }, async_run: true })
        .expect(200);
      ids.set(n, (body as { run_id: string }).run_id);
    }
    await started(line, CONCURRENCY);
    for (const { n } of gatesOf(line))
      await any()
        .http.post(`/run/${ids.get(n)}/cancel`)
        .expect(200);
    await started(line, 2 * CONCURRENCY);
    const later = gatesOf(line).slice(CONCURRENCY);
    expect(later.map(({ n }) => n).sort((one, other) => one - other)).toEqual(
      orders(CONCURRENCY).map((_, n) => n + CONCURRENCY),
    );
    later.forEach((gate) => gate.open());
    for (const { n } of later)
      await eventually(
        'its run has finished',
        async () => ((await any().http.get(`/run/${ids.get(n)}`)).body as { status: string }).status === 'completed',
      );
  });

  it('let another one start the next execution while an engine continues after a cancel', async () => {
    const names = ['first', 'second'].map((name) => `${name}-${maxConcurrentExecutions}`);
    for (const name of names) await any().publish('Stubborn', {}, { correlation: name });
    const isRunning = (name: string) =>
      eventually(`${name} runs`, () => stubborn().some(({ name: running }) => running === name));
    await isRunning(names[0]!);
    expect(stubborn().at(-1)!.name).toBe(names[0]);
    await any().http.post(`/api/v1/correlations/${names[0]}/cancel`).expect(200);
    await isRunning(names[1]!);
    stubborn().forEach(({ open }) => open());
    expect(await any().ended(names[1]!)).toMatchObject({ state: 'completed' });
  });
});
