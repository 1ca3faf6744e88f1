import type { ReplayBody } from '../../src/features/replays/dto/replay-body.js';
import { changeStored } from '../faults/change-stored.js';
import type { TestAppOptions } from '../support/app.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { Board } from './board.js';
import { Outside } from './outside.js';
import { SERVER, withoutPolling } from './replica-boards.js';

const CONFIG = `
agents:
  spread: { consumes: [{ types: [Bulk] }], publishes: [{ type: Item }], engine: { kind: expression, expression: payload.items } }
  asker: { consumes: [{ types: [Survey] }], publishes: [{ type: Question }], engine: { kind: expression, expression: payload.items } }
  worker:
    consumes: [{ types: [Item] }, { types: [Left, Right] }]
    engine: { kind: function, module: ./worker.js }
    fair_by: "has(payload.Left) ? payload.Left.tenant : payload.tenant"
    weight: "has(payload.weight) ? payload.weight : 1.0"
    concurrency: 2
    retry: { attempts: 1 }
  person: { consumes: [{ types: [Question] }], publishes: [{ type: Answer }], engine: { kind: external }, fair_by: payload.tenant, concurrency: 100 }
  clerk: { consumes: [{ types: [Request], priority: payload.urgent }], engine: { kind: external }, fair_by: payload.tenant }
  runner: { consumes: [{ types: [Errand], priority: payload.urgent }], engine: { kind: external } }
`;

const WORKER = `globalThis.fairStarts ??= [];
export default async (inputs) => { globalThis.fairStarts.push(inputs[0].payload); return null; };`;

interface Item {
  tenant: string;
  n: number;
  weight?: number;
}

const starts = (): Item[] => ((globalThis as unknown as { fairStarts?: Item[] }).fairStarts ??= []);

const items = (tenant: string, count: number, more: object = {}): Item[] =>
  Array.from({ length: count }, (_, n) => ({ tenant, n, ...more }));

/** Uses the whole app over HTTP on a database. */
describe('executions of an agent with fair_by', () => {
  let board: Board;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: { 'worker.js': WORKER } });
  });

  afterAll(() => board.close());

  beforeEach(() => {
    starts().length = 0;
  });

  const pause = () => board.http.post('/api/v1/agents/worker/pause').expect(200);
  const resume = () => board.http.post('/api/v1/agents/worker/resume').expect(200);

  /** Publishes many items, at most 1,000 in each correlation. */
  const publish = async (all: Item[]): Promise<string[]> => {
    const ids: string[] = [];
    for (let from = 0; from < all.length; from += 1_000) {
      ids.push(await board.publish('Bulk', { items: all.slice(from, from + 1_000) }));
    }
    return ids;
  };

  const waiting = async (): Promise<number> =>
    Number(/^starling_queue_depth (\d+)$/m.exec((await board.http.get('/metrics')).text)![1]);

  const keys = () => board.app.database.rows('select * from fair_keys');

  /** Keys without work have no row. */
  const noKeys = () => eventually('no key has a row', async () => (await keys()).length === 0);

  const waitFor = (count: number): Promise<void> =>
    eventually(`${count} executions wait`, async () => (await waiting()) === count);

  it('let the first of another key start next, behind 5,000 of one', async () => {
    await pause();
    const ids = await publish(items('many', 5_000));
    await waitFor(5_000);
    await publish(items('few', 1));
    await waitFor(5_001);
    await resume();
    await eventually('it has started', () => starts().some(({ tenant }) => tenant === 'few'));
    // Each of the two processes' slots may have been given before.
    expect(starts().findIndex(({ tenant }) => tenant === 'few')).toBeLessThanOrEqual(2);
    for (const id of ids) await board.http.post(`/api/v1/correlations/${id}/cancel`).expect(200);
    await waitFor(0);
  });

  it('share the starts by weight', async () => {
    await pause();
    await publish([...items('three', 90, { weight: 3 }), ...items('one', 90), ...items('half', 90, { weight: 0.5 })]);
    await waitFor(270);
    await resume();
    await eventually('all have started', () => starts().length === 270);
    const counts = Object.fromEntries(
      [...Map.groupBy(starts().slice(0, 90), ({ tenant }) => tenant)].map(([tenant, some]) => [tenant, some.length]),
    );
    expect(Math.abs(counts.three! - 60)).toBeLessThanOrEqual(2);
    expect(Math.abs(counts.one! - 20)).toBeLessThanOrEqual(2);
    expect(Math.abs(counts.half! - 10)).toBeLessThanOrEqual(2);
    await noKeys();
  });

  it('have a key in joins, in runs and with the executions of clients, too', async () => {
    await pause();
    await publish(items('many', 20));
    await waitFor(20);
    const join = await board.publish('Left', { tenant: 'joined' });
    await board.publish('Right', {}, { correlation: join });
    const run = board.http
      .post('/run/flock')
      .send({ agent_name: 'worker', inputs: { tenant: 'run', n: 0 } })
      .then(({ body }) => body as { status: string });
    await waitFor(22);
    await eventually('their keys are computed', async () => (await keys()).length === 3);
    await resume();
    expect(await run).toMatchObject({ status: 'completed' });
    await eventually('all have started', () => starts().length === 22);
    const places = ['joined', 'run'].map((name) => starts().findIndex(({ tenant }) => tenant === name));
    expect(Math.max(...places)).toBeLessThanOrEqual(4);

    for (const [n, tenant] of ['a', 'a', 'a', 'b'].entries()) await board.publish('Question', { tenant, n });
    const claim = async (max: number) =>
      (await new Outside(board.http).claim({ agents: ['person'], max })).map(
        ({ inputs }) => `${inputs[0]!.payload.tenant}${inputs[0]!.payload.n}`,
      );
    expect(await claim(2)).toEqual(['a0', 'b3']);
    expect(await claim(5)).toEqual(['a1', 'a2']);
    await noKeys();
  });

  it('start behind any number of keys whose executions were cancelled', async () => {
    const tenants = Array.from({ length: 1_500 }, (_, n) => ({ tenant: `cancelled${n}` }));
    const ids = [0, 1_000].map((from) => board.publish('Survey', { items: tenants.slice(from, from + 1_000) }));
    await waitFor(1_500);
    for (const id of ids) await board.http.post(`/api/v1/correlations/${await id}/cancel`).expect(200);
    await waitFor(0);
    expect(await keys()).toHaveLength(1_500);
    await board.publish('Question', { tenant: 'new' });
    const claim = async () =>
      (await new Outside(board.http).claim({ agents: ['person'], max: 1 })).map(({ inputs }) => inputs[0]!.payload);
    expect(await claim()).toEqual([{ tenant: 'new' }]);
    expect(await claim()).toEqual([]);
    expect(await keys()).toEqual([]);
  });

  it('take turns with new keys, also while executions of another key wait for a process that can run them', async () => {
    const claim = async (max: number) =>
      (await new Outside(board.http).claim({ agents: ['person'], max })).map(({ inputs }) => inputs[0]!.payload.tenant);
    await board.publish('Question', { tenant: 'stuck' });
    await changeStored(
      board.app.database.url,
      `update executions set configuration = 'elsewhere' where fair_key = '"stuck"'`,
    );
    for (let n = 0; n < 9; n += 1) await board.publish('Question', { tenant: 'busy', n });
    for (let n = 0; n < 6; n += 1) expect(await claim(1)).toEqual(['busy']);
    for (let n = 0; n < 3; n += 1) await board.publish('Question', { tenant: 'new', n });
    const order = [await claim(2), await claim(2), await claim(2)];
    expect(order.map((two) => two.sort())).toEqual(Array(3).fill(['busy', 'new']));
    expect(await claim(1)).toEqual([]);
    await changeStored(board.app.database.url, `update executions set configuration = null where fair_key = '"stuck"'`);
    expect(await claim(2)).toEqual(['stuck']);
    await noKeys();
  });

  it.each([
    [{}, 'fair_by fails: '],
    [{ tenant: null }, 'fair_by is null'],
    [{ tenant: ['a'] }, 'fair_by must give a text, a number or a boolean'],
    [{ tenant: '😀'.repeat(201) }, 'fair_by is longer than 200 characters'],
    [{ tenant: 'a', weight: 0.0009 }, 'weight must give a number from 0.001 to 1000'],
    [{ tenant: 'a', weight: 1000.5 }, 'weight must give a number from 0.001 to 1000'],
    [{ tenant: 'a', weight: 0 }, 'weight must give a number from 0.001 to 1000'],
    [{ tenant: 'a', weight: 'b' }, 'weight must give a number from 0.001 to 1000'],
  ])('fail for %j with the reason', async (payload, reason) => {
    const correlation = await board.publish('Item', payload);
    expect(await board.ended(correlation)).toMatchObject({ state: 'failed' });
    const error = (await board.artifacts(correlation)).find(({ type }) => type === 'WorkflowError')!;
    expect(error.payload).toMatchObject({ error_type: 'fair_key' });
    expect(error.payload.error_message).toContain(reason);
  });

  it.each([
    ['a key of 200 characters that take two units each', { tenant: '😀'.repeat(200) }],
    ['the smallest weight', { tenant: 'a', weight: 0.001 }],
    ['the largest weight', { tenant: 'a', weight: 1000 }],
  ])('may have %s', async (_, payload) => {
    const correlation = await board.publish('Item', payload);
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
  });

  it.each(['20%', '0.2'])('have at most a max_share of %s', async (share) => {
    const small = await Board.start(
      `agents:
  worker: { consumes: [{ types: [Item] }], engine: { kind: external }, fair_by: payload.tenant, max_share: ${share} }`,
      { settings: { maxPendingExecutions: 10 } },
    );
    try {
      const send = (tenant: string) => small.http.post('/api/v1/artifacts').send({ type: 'Item', payload: { tenant } });
      for (const [tenant, status] of [
        ['a', 200],
        ['a', 200],
        ['a', 503],
        ['b', 200],
      ] as const)
        await send(tenant).expect(status);
    } finally {
      await small.close();
    }
  });

  it('have at most their share, also of executions that windows with debounce queue', async () => {
    const worker =
      'consumes: [{ types: [Item], debounce: { key: payload.form, wait: 1ms, at_most: 1ms } }], fair_by: payload.tenant, max_share: 20%';
    // A recount that overlaps a commit would set the count back for a moment. Without recounts, the count is exact.
    const small = withoutPolling(
      await Board.start(`agents:\n  worker: { ${worker}, engine: { kind: external } }`, {
        settings: { maxPendingExecutions: 10 },
      }),
    );
    try {
      const send = (tenant: string, form: number) =>
        small.http.post('/api/v1/artifacts').send({ type: 'Item', payload: { tenant, form } });
      for (const form of [1, 2]) {
        await send('a', form).expect(200);
        await eventually('its execution waits with its key', async () => {
          const sql = 'select id from executions where fair_key is not null';
          return (await small.app.database.rows(sql)).length === form;
        });
      }
      await send('a', 3).expect(503);
      await send('b', 4).expect(200);
    } finally {
      await small.close();
    }
  });

  it('have at most their share of what may wait, while other keys are accepted', async () => {
    const small = await Board.start(CONFIG, { files: { 'worker.js': WORKER }, settings: { maxPendingExecutions: 6 } });
    try {
      await small.http.post('/api/v1/agents/worker/pause').expect(200);
      const send = (tenant: string) => small.http.post('/api/v1/artifacts').send({ type: 'Item', payload: { tenant } });
      for (let n = 0; n < 3; n += 1) await send('a').expect(200);
      const refused = await send('a').expect(503);
      expect(refused.body).toEqual({
        detail:
          '3 executions of worker are waiting for the key "a", which is the most for one key (max_share); try again later',
      });
      expect(refused.headers['retry-after']).toBe('5');
      const run = (tenant: string) =>
        small.http.post('/run/flock').send({ agent_name: 'worker', inputs: { tenant }, async_run: true });
      const direct = small.http
        .post('/api/v1/agents/worker/run')
        .send({ inputs: [{ type: 'Item', payload: { tenant: 'a' } }] });
      for (const request of [run('a'), direct]) expect((await request.expect(503)).body).toEqual(refused.body);
      await run('b').expect(200);
      await send('b').expect(200);
      await small.http.post('/api/v1/agents/worker/resume').expect(200);
      await eventually('it is accepted again', async () => (await send('a')).status === 200);
    } finally {
      await small.close();
    }
  });

  it('have their share at most, also those that are sent together, and other keys are accepted', async () => {
    const MOST = 60;
    const small = await Board.start(
      `agents:\n  worker: { consumes: [{ types: [Item] }], publishes: [{ type: Done }], engine: { kind: external }, fair_by: payload.tenant }`,
      { settings: { maxPendingExecutions: MOST } },
    );
    try {
      const send = (tenant: string) => small.http.post('/api/v1/artifacts').send({ type: 'Item', payload: { tenant } });
      const statuses = (await Promise.all(Array.from({ length: 2 * MOST }, () => send('a')))).map(
        ({ status }) => status,
      );
      expect(statuses.filter((status) => status === 200)).toHaveLength(MOST / 2);
      expect(new Set(statuses)).toEqual(new Set([200, 503]));
      await send('b').expect(200);
    } finally {
      await small.close();
    }
  });

  it('start by a computed priority within their key, and all of an agent without keys', async () => {
    const publishAll = async (type: string): Promise<void> => {
      for (const [n, urgent] of [1, 7, 3, 1].entries()) await board.publish(type, { tenant: 'a', n, urgent });
    };
    const claim = async (agent: string) =>
      (await new Outside(board.http).claim({ agents: [agent], max: 5 })).map(({ inputs }) => inputs[0]!.payload.n);
    await publishAll('Request');
    await board.publish('Request', { tenant: 'b', n: 4, urgent: 0 });
    const lists = (await board.http.get('/api/v1/artifacts').query({ type: 'Request' }).expect(200)).body as {
      items: { id: string }[];
    };
    const { body } = await board.http.get(`/api/v1/artifacts/${lists.items[3]!.id}/explain`).expect(200);
    expect((body as { verdicts: { detail: string }[] }).verdicts.map(({ detail }) => detail)).toContain(
      'It triggered the agent; the execution waits to be claimed: 3 of 4 executions with the key "a" start before it, and 2 keys take turns.',
    );
    expect(await claim('clerk')).toEqual([1, 4, 2, 0, 3]);
    await publishAll('Errand');
    expect(await claim('runner')).toEqual([1, 2, 0, 3]);
    for (const urgent of [1.5, 'x', 2_000_000]) {
      const correlation = await board.publish('Errand', { urgent });
      expect(await board.ended(correlation)).toMatchObject({ state: 'failed' });
      const error = (await board.artifacts(correlation)).find(({ type }) => type === 'WorkflowError')!;
      expect(error.payload).toMatchObject({
        error_type: 'priority',
        error_message: 'priority must give a whole number from -1000000 to 1000000',
      });
    }
  });

  it('say their place among all of their key that a process can start, live and of replays', async () => {
    const folder = new ConfigurationFolder();
    const config = `
      agents:
        gated:
          consumes: [{ types: [Gated] }]
          publishes: [{ type: Ended }]
          engine: { kind: function, module: ./gate.js }
          fair_by: payload.tenant
          concurrency: 1
          timeout: 1h
    `;
    const replayConfigs = [{ name: 'candidate', file: folder.write('candidate.yaml', config) }];
    let small: Board;
    const start = async (options: TestAppOptions): Promise<void> => {
      const settings = { shutdownGraceMs: 0, ...options.settings };
      small = await Board.start(config, { folder: folder.path, files: { 'gate.js': GATE }, ...options, settings });
    };
    const publish = (batch: string) => small.publish('Gated', { tenant: 'a', batch, n: 1 }, { correlation: batch });
    const place = async (correlation: string): Promise<string | undefined> => {
      const [artifact] = await small.artifacts(correlation);
      const { body } = await small.http.get(`/api/v1/artifacts/${artifact!.id}/explain`).expect(200);
      return /\d+ of \d+ executions/.exec(JSON.stringify(body))?.[0];
    };
    try {
      await start({ settings: { replayConfigs } });
      await publish('fair-original');
      await started('fair-original', 1);
      gatesOf('fair-original')[0]!.open();
      await small!.ended('fair-original');
      await small!.close();
      await start({ settings: { replayConfigs }, role: SERVER });
      const { body } = await small!.http
        .post('/api/v1/correlations/fair-original/replay')
        .send({ mode: 'full', configuration: 'candidate' })
        .expect(200);
      const replay = (body as ReplayBody).correlation_id;
      await small!.close();

      await start({});
      for (const name of ['fair-1', 'fair-2', 'fair-3']) await publish(name);
      await started('fair-1', 1);
      expect(await place('fair-2')).toBe('0 of 2 executions');
      expect(await place('fair-3')).toBe('1 of 2 executions');
      await small!.close();

      await start({ settings: { replayConfigs } });
      await started('fair-1', 2);
      expect(await place('fair-2')).toBe('0 of 3 executions');
      expect(await place('fair-3')).toBe('1 of 3 executions');
      expect(await place(replay)).toBe('2 of 3 executions');
    } finally {
      await small!.close();
      await small!.app.database.drop();
      folder.remove();
    }
  });
});
