import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { GATE, type Gate, gatesOf, started } from './batch-board.js';
import { Board } from './board.js';

const CONFIG = `
limits:
  pool: { concurrency: 2 }
  per_customer: { concurrency: 1, key: payload.customer }
  calls: { rate: 1/s, burst: 2 }
  tokens: { rate: 10/s, units: payload.size }
  fixed: { rate: 10/s, units: 'payload.large ? 5 : 4' }
  evaluated: { rate: 10/s, units: "size('abcd')" }
  model/*: { concurrency: 2 }
  model/big/*: { concurrency: 1 }
  model/big/new: { concurrency: 1 }
  desk: { concurrency: 1 }
agents:
  small: { consumes: [{ types: [Small] }], limits: [model/small], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  large: { consumes: [{ types: [Large] }], limits: [model/big/old], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  huge: { consumes: [{ types: [Huge] }], limits: [model/big/other], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  new: { consumes: [{ types: [New] }], limits: [model/big/new], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  one: { consumes: [{ types: [Pooled] }], limits: [pool], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h, retry: { attempts: 2, delay: 1m } }
  two: { consumes: [{ types: [AlsoPooled] }], limits: [pool], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  customer: { consumes: [{ types: [Order] }], limits: [per_customer], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  both: { consumes: [{ types: [Both] }], limits: [per_customer, { name: pool, key: payload.customer }], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  regional: { consumes: [{ types: [Regional] }], limits: [{ name: per_customer, key: "payload.region  + '/' + payload.customer" }], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  described: { consumes: [{ types: [Described] }], limits: [{ name: per_customer, key: "payload.customer + '/' + (has(payload.description) ? 'with a description' : 'without')" }], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  inner: { consumes: [{ types: [Inner] }], limits: [{ name: per_customer, key: 'payload.order.items[0].customer' }], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  joined: { consumes: [{ types: [Left, Right] }], limits: [{ name: per_customer, key: payload.Left.customer }], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  window: { consumes: [{ types: [Row], batch: { size: 2 } }], limits: [{ name: per_customer, key: 'payload[0].customer' }], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  caller: { consumes: [{ types: [Call] }], limits: [calls], publishes: [{ type: Called }], engine: { kind: expression, expression: '{"n": payload.n}' } }
  person: { consumes: [{ types: [Question] }], limits: [desk], publishes: [{ type: Ended }], engine: { kind: external }, timeout: 1h }
  speaker: { consumes: [{ types: [Speech] }], limits: [tokens], publishes: [{ type: Spoken }], engine: { kind: expression, expression: '{"n": payload.size}' } }
`;

interface Wait {
  kind: string;
  agent: string;
  limit: string | null;
}

/** Uses the whole app over HTTP, stopped and started again on one database. The clock is faked. */
describe('limits', () => {
  const folder = new ConfigurationFolder();
  const clock = new ManualClock();
  let board: Board;

  const start = async (config = CONFIG): Promise<void> => {
    board = await Board.start(config, {
      clock,
      folder: folder.path,
      files: { 'gate.js': GATE },
      settings: { shutdownGraceMs: 0 },
    });
  };

  beforeAll(() => start());

  afterAll(async () => {
    await board.close();
    await board.app.database.drop();
    folder.remove();
  });

  const waitsOf = async (correlation: string): Promise<Wait[]> =>
    ((await board.http.get(`/api/v1/correlations/${correlation}/waiting`).expect(200)).body as { items: Wait[] }).items;

  const limitOf = async (correlation: string): Promise<string | null> => (await waitsOf(correlation))[0]?.limit ?? null;

  const waitsFor = (correlation: string, text: string): Promise<void> =>
    eventually(`${correlation} waits for ${text}`, async () => (await limitOf(correlation)) === text);

  /** The latest invocation in this correlation. */
  const gate = async (batch: string): Promise<Gate> => {
    await started(batch, 1);
    return gatesOf(batch).at(-1)!;
  };

  const publish = (type: string, batch: string, more: object = {}): Promise<string> =>
    board.publish(type, { batch, n: 1, ...more }, { correlation: batch });

  it('are shared by agents, say what waits, and let the next start when one ends', async () => {
    await publish('Pooled', 'p1');
    await publish('AlsoPooled', 'p2');
    await started('p1', 1);
    await started('p2', 1);
    await publish('Pooled', 'p3');
    await waitsFor('p3', 'limit pool: 2 of 2 used, 1st of 1');
    await publish('AlsoPooled', 'p4');
    await waitsFor('p4', 'limit pool: 2 of 2 used, 2nd of 2');
    expect((await waitsOf('p4'))[0]).toMatchObject({ kind: 'limit', agent: 'two' });
    const [artifact] = await board.artifacts('p4');
    const { body } = await board.http.get(`/api/v1/artifacts/${artifact!.id}/explain`).expect(200);
    expect((body as { verdicts: { agent: string; detail: string }[] }).verdicts).toContainEqual(
      expect.objectContaining({
        agent: 'two',
        detail: 'It triggered the agent; the execution waits for limit pool: 2 of 2 used, 2nd of 2.',
      }),
    );
    const list = (await board.http.get('/api/v1/executions').query({ correlation_id: 'p4' }).expect(200)).body as {
      items: object[];
    };
    expect(list.items).toMatchObject([{ state: 'pending', next_attempt_at: null }]);

    (await gate('p1')).open();
    await started('p3', 1);
    // Waiting for a retry holds nothing.
    (await gate('p3')).fail();
    await started('p4', 1);
    (await gate('p2')).open();
    (await gate('p4')).open();
    for (const done of ['p1', 'p2', 'p4']) expect(await board.ended(done)).toMatchObject({ state: 'completed' });
    clock.advance(90_000);
    await started('p3', 2);
    (await gate('p3')).open();
    expect(await board.ended('p3')).toMatchObject({ state: 'completed' });
  });

  it('show an empty or blank key in quotes', async () => {
    for (const [batch, key, shown] of [
      ['empty', '', '""'],
      ['blank', ' ', '" "'],
    ] as const) {
      const [first, second] = [`${batch}-1`, `${batch}-2`];
      await publish('Order', first, { customer: key });
      await started(first, 1);
      await publish('Order', second, { customer: key });
      await waitsFor(second, `limit per_customer: 1 of 1 used, 1st of 1 for customer ${shown}`);
      for (const each of [first, second]) (await gate(each)).open();
      for (const each of [first, second]) expect(await board.ended(each)).toMatchObject({ state: 'completed' });
    }
  });

  it('name a key by its expression: a path, or any other in parentheses, of which the first 60 characters', async () => {
    for (const [type, expression] of [
      ['Regional', "(payload.region + '/' + payload.customer)"],
      ['Described', "(payload.customer + '/' + (has(payload.description) ? 'with a...)"],
      ['Inner', 'order.items[0].customer'],
    ] as const) {
      const [first, second] = [`${type}-1`, `${type}-2`];
      const payload = { customer: 'acme', region: 'eu', order: { items: [{ customer: 'eu/acme' }] }, description: '' };
      await publish(type, first, payload);
      await started(first, 1);
      await publish(type, second, payload);
      const key = type === 'Described' ? 'acme/with a description' : 'eu/acme';
      await waitsFor(second, `limit per_customer: 1 of 1 used, 1st of 1 for ${expression} ${key}`);
      for (const each of [first, second]) (await gate(each)).open();
      for (const each of [first, second]) expect(await board.ended(each)).toMatchObject({ state: 'completed' });
    }
  });

  it('hold for each key, which joins, windows, runs and cancellations have too', async () => {
    // They hold nothing in a join or a batch window.
    await board.publish('Left', { customer: 17, batch: 'k4' }, { correlation: 'k4' });
    await board.publish('Row', { customer: 18, batch: 'k5' }, { correlation: 'k5' });
    await publish('Order', 'k1', { customer: 17 });
    await publish('Order', 'k2', { customer: 18 });
    await started('k1', 1);
    await started('k2', 1);
    await publish('Order', 'k3', { customer: 17 });
    await waitsFor('k3', 'limit per_customer: 1 of 1 used, 1st of 1 for customer 17');
    await board.publish('Right', { batch: 'k4' }, { correlation: 'k4' });
    await waitsFor('k4', 'limit per_customer: 1 of 1 used, 2nd of 2 for Left.customer 17');
    await board.publish('Row', { customer: 1, batch: 'k5' }, { correlation: 'k5' });
    await waitsFor('k5', 'limit per_customer: 1 of 1 used, 1st of 1 for customer 18');
    const run = board.http
      .post('/run/flock')
      .set('X-Correlation-ID', 'k6')
      .send({ agent_name: 'customer', inputs: { customer: 17, batch: 'k6', n: 1 } })
      .then(({ body }) => body as { status: string });
    await waitsFor('k6', 'limit per_customer: 1 of 1 used, 3rd of 3 for customer 17');

    await board.http.post('/api/v1/correlations/k4/cancel').expect(200);
    await waitsFor('k6', 'limit per_customer: 1 of 1 used, 2nd of 2 for customer 17');
    await board.http.post('/api/v1/correlations/k1/cancel').expect(200);
    await started('k3', 1);
    expect(gatesOf('k6')).toEqual([]);
    (await gate('k3')).open();
    await started('k6', 1);
    (await gate('k6')).open();
    (await gate('k2')).open();
    (await gate('k5')).open();
    expect(await run).toMatchObject({ status: 'completed' });
    for (const id of ['k2', 'k3', 'k5']) expect(await board.ended(id)).toMatchObject({ state: 'completed' });
  });

  it('are patterns, of which the most specific one counts for all names that it matches', async () => {
    await publish('Large', 'm1');
    await started('m1', 1);
    await publish('Huge', 'm2');
    await waitsFor('m2', 'limit model/big/*: 1 of 1 used, 1st of 1');
    await publish('New', 'm3');
    await publish('Small', 'm4');
    await started('m3', 1);
    await started('m4', 1);
    expect((await board.http.get('/api/v1/limits/model%2Fbig%2F*').expect(200)).body).toMatchObject({
      name: 'model/big/*',
      agents: [{ agent: 'large' }, { agent: 'huge' }],
      running: 1,
      waiting: 1,
    });
    (await gate('m1')).open();
    for (const id of ['m2', 'm3', 'm4']) {
      (await gate(id)).open();
      expect(await board.ended(id)).toMatchObject({ state: 'completed' });
    }
  });

  it('let an execution wait for one of its limits without holding another', async () => {
    await publish('Order', 'b1', { customer: 'x' });
    await started('b1', 1);
    await publish('Both', 'b2', { customer: 'x' });
    await waitsFor('b2', 'limit per_customer: 1 of 1 used, 1st of 1 for customer x');
    expect(gatesOf('b2')).toEqual([]);
    (await gate('b1')).open();
    (await gate('b2')).open();
    expect(await board.ended('b2')).toMatchObject({ state: 'completed' });
  });

  it('let attempts start at a rate, and its units count', async () => {
    for (const n of [1, 2, 3, 4]) await board.publish('Call', { n }, { correlation: `c${n}` });
    expect(await board.ended('c1')).toMatchObject({ state: 'completed' });
    expect(await board.ended('c2')).toMatchObject({ state: 'completed' });
    await waitsFor('c4', 'limit calls: 2 of 2 used, 2nd of 2, next in 1.0 s');
    clock.advance(999);
    await waitsFor('c4', 'limit calls: 2 of 2 used, 2nd of 2, next in 0.0 s');
    clock.advance(1);
    expect(await board.ended('c3')).toMatchObject({ state: 'completed' });
    await waitsFor('c4', 'limit calls: 2 of 2 used, 1st of 1, next in 1.0 s');
    clock.advance(1_000);
    expect(await board.ended('c4')).toMatchObject({ state: 'completed' });

    await board.publish('Speech', { size: 8 }, { correlation: 's1' });
    await board.publish('Speech', { size: 6 }, { correlation: 's2' });
    expect(await board.ended('s1')).toMatchObject({ state: 'completed' });
    await eventually('the second waits', async () => (await waitsOf('s2'))[0]?.kind === 'limit');
    clock.advance(400);
    expect(await board.ended('s2')).toMatchObject({ state: 'completed' });
  });

  it('let executions start that cost less than a unit, and say when one of several units starts', async () => {
    clock.advance(2_000);
    await board.publish('Speech', { size: 10 }, { correlation: 'u0' });
    expect(await board.ended('u0')).toMatchObject({ state: 'completed' });
    for (const [index, size] of [0.2, 0.2, 0.2, 0.2, 0.2, 3].entries()) {
      await board.publish('Speech', { size }, { correlation: `u${index + 1}` });
      await eventually('it waits', async () => (await limitOf(`u${index + 1}`)) !== null);
    }
    await waitsFor('u6', 'limit tokens: 10 of 10 used, 6th of 6, next in 0.0 s');
    clock.advance(20);
    expect(await board.ended('u1')).toMatchObject({ state: 'completed' });
    await waitsFor('u2', 'limit tokens: 10 of 10 used, 1st of 5, next in 0.0 s');
    // Nothing remembers when it may start.
    await board.close();
    clock.advance(20);
    await start();
    expect(await board.ended('u2')).toMatchObject({ state: 'completed' });
    clock.advance(60);
    for (const id of ['u3', 'u4', 'u5']) expect(await board.ended(id)).toMatchObject({ state: 'completed' });
    await waitsFor('u6', 'limit tokens: 10 of 10 used, 1st of 1, next in 0.3 s');
    clock.advance(299);
    await waitsFor('u6', 'limit tokens: 8 of 10 used, 1st of 1, next in 0.0 s');
    clock.advance(1);
    expect(await board.ended('u6')).toMatchObject({ state: 'completed' });
  });

  it('let an execution cost as much as the burst that a client has set', async () => {
    const put = (limit: string, body: object) => board.http.put(`/api/v1/limits/${limit}`).send(body);
    clock.advance(10_000);
    await put('tokens', { rate: '10/s', burst: 20 }).expect(200);
    await board.publish('Speech', { size: 20 }, { correlation: 'set1' });
    expect(await board.ended('set1')).toMatchObject({ state: 'completed' });
    await board.publish('Speech', { size: 8 }, { correlation: 'set2' });
    await waitsFor('set2', 'limit tokens: 20 of 20 used, 1st of 1, next in 0.8 s');
    await put('tokens', { rate: '10/s', burst: 5 }).expect(200);
    await board.publish('Speech', { size: 6 }, { correlation: 'set3' });
    expect(await board.ended('set3')).toMatchObject({ state: 'failed' });
    const error = (await board.artifacts('set3')).find((one) => one.type === 'WorkflowError')!;
    expect(error.payload.error_message).toContain('limit tokens: it costs 6 units, and its burst is 5');
    // It has waited before, and takes the whole burst.
    clock.advance(2_000);
    expect(await board.ended('set2')).toMatchObject({ state: 'completed' });
    await board.http.delete('/api/v1/limits/tokens').expect(200);

    const detail = 'burst: each attempt costs more than 3 units, so that none could start; send a larger burst';
    for (const body of [{ rate: '10/s', burst: 3 }, { rate: '3/s' }])
      for (const limit of ['fixed', 'evaluated']) expect((await put(limit, body).expect(400)).body).toEqual({ detail });
    expect((await board.http.get('/api/v1/limits/fixed').expect(200)).body).toMatchObject({ set_at: null });
    for (const body of [{ rate: '10/s', burst: 4 }, { rate: '4/s' }, {}]) await put('fixed', body).expect(200);
    await board.http.delete('/api/v1/limits/fixed').expect(200);
  });

  it('have no row for a key of a rate that is not used', async () => {
    const rates = (): Promise<unknown[]> => board.app.database.rows('select limit_key from limit_rates');
    await board.publish('Call', { n: 1 }, { correlation: 'unused' });
    expect(await board.ended('unused')).toMatchObject({ state: 'completed' });
    expect((await rates()).length).toBeGreaterThan(0);
    clock.advance(2 * 60_000);
    await eventually('nothing is left', async () => (await rates()).length === 0);
  });

  it('are not shut for longer if the clock is set back', async () => {
    clock.advance(2_000);
    for (const n of [1, 2, 3]) await board.publish('Call', { n }, { correlation: `back${n}` });
    await waitsFor('back3', 'limit calls: 2 of 2 used, 1st of 1, next in 1.0 s');
    clock.advance(-2 * 3_600_000);
    await waitsFor('back3', 'limit calls: 2 of 2 used, 1st of 1, next in 1.0 s');
    // The next look at what waits stores it.
    const used = `select used_until from limit_rates where limit_key = '["calls",null]'`;
    await eventually('its end is near', async () => {
      const [row] = await board.app.database.rows<{ used_until: number }>(used);
      return Number(row!.used_until) === clock.now() + 2_000;
    });
    clock.advance(1_000);
    expect(await board.ended('back3')).toMatchObject({ state: 'completed' });
  });

  it.each([
    ['Order', {}, 'limit per_customer: its key fails'],
    ['Order', { customer: null }, 'limit per_customer: its key is null'],
    ['Order', { customer: [1] }, 'limit per_customer: its key must give a text, a number or a boolean'],
    ['Speech', { size: 11 }, 'limit tokens: it costs 11 units, and its burst is 10'],
    ['Speech', { size: 'x' }, 'limit tokens: its units must give a number'],
  ])('fail the execution of %s %j with the reason', async (type, payload, reason) => {
    const correlation = await board.publish(type, payload);
    expect(await board.ended(correlation)).toMatchObject({ state: 'failed' });
    const error = (await board.artifacts(correlation)).find((one) => one.type === 'WorkflowError')!;
    expect(error.payload).toMatchObject({ error_type: 'limit_key' });
    expect(error.payload.error_message).toContain(reason);
  });

  it('are changed over HTTP, over a restart and until the change is undone', async () => {
    const file = { concurrency: 2, rate: null, burst: null };
    const limit = async () => (await board.http.get('/api/v1/limits/pool').expect(200)).body as object;
    const agents = ['one', 'two', 'both'].map((agent) => ({
      agent,
      key: agent === 'both' ? 'payload.customer' : null,
    }));
    const unused = { running: 0, units_used: null, waiting: 0, longest: null };
    expect(await limit()).toEqual({
      name: 'pool',
      ...file,
      units: null,
      hold: false,
      set_at: null,
      file,
      agents,
      ...unused,
    });
    const put = (body: object) => board.http.put('/api/v1/limits/pool').send(body);
    expect((await put({ concurrency: 1 }).expect(200)).body).toMatchObject({ concurrency: 1, file });
    await publish('Pooled', 'h1');
    await started('h1', 1);
    await publish('Pooled', 'h2');
    await waitsFor('h2', 'limit pool: 1 of 1 used, 1st of 1');
    expect(await limit()).toMatchObject({ concurrency: 1, running: 1, waiting: 1 });

    // Another limit has the values of the file, set by a client.
    const { body } = await board.http.get('/api/v1/limits/desk').expect(200);
    const same = Object.entries((body as { file: object }).file).filter(([, value]) => value !== null);
    await board.http.put('/api/v1/limits/desk').send(Object.fromEntries(same)).expect(200);

    await board.close();
    await start();
    expect(board.app.logLines).toContainEqual(expect.objectContaining({ limit: 'pool', set: { concurrency: 1 } }));
    expect(board.app.logLines).not.toContainEqual(expect.objectContaining({ limit: 'desk' }));
    await board.http.delete('/api/v1/limits/desk').expect(200);
    await started('h1', 2);
    await waitsFor('h2', 'limit pool: 1 of 1 used, 1st of 1');
    expect((await board.http.delete('/api/v1/limits/pool').expect(200)).body).toMatchObject({ ...file, set_at: null });
    await started('h2', 1);
    (await gate('h1')).open();
    (await gate('h2')).open();
    for (const id of ['h1', 'h2']) expect(await board.ended(id)).toMatchObject({ state: 'completed' });

    for (const [rate, shown] of [
      ['60/1m30s', '60/90s'],
      ['60/PT1M', '60/m'],
      ['5/1ms', '5/1ms'],
      ['1/3650d', '1/3650d'],
    ]) {
      const set = { concurrency: null, rate, burst: null };
      const { body: returned } = await put(set).expect(200);
      expect(returned).toMatchObject({ rate: shown });
      // PUT takes the values that GET returns.
      const values = Object.fromEntries(
        Object.keys(set).map((key) => [key, (returned as Record<string, unknown>)[key]]),
      );
      expect((await put(values).expect(200)).body).toMatchObject(values);
    }
    expect((await put({ ...file, rate: null, burst: null }).expect(200)).body).toMatchObject({
      rate: null,
      burst: null,
    });
    await put({ rate: null, burst: 5 }).expect(400, {
      detail: 'burst: counts for a rate only; add rate, or remove burst',
    });
    expect((await put({}).expect(200)).body).toMatchObject({ concurrency: null, rate: null, file });
    await board.http.delete('/api/v1/limits/pool').expect(200);
    const list = (await board.http.get('/api/v1/limits').expect(200)).body as { items: { name: string }[] };
    expect(list.items.map(({ name }) => name)).toEqual([
      ...['pool', 'per_customer', 'calls', 'tokens', 'fixed', 'evaluated'],
      ...['model/*', 'model/big/*', 'model/big/new', 'desk'],
    ]);
    for (const [body, detail] of [
      [{ concurrency: 0 }, 'concurrency: must not be less than 1'],
      ...['1/0s', '1/87600.1h', `1/${'9'.repeat(400)}d`].map(
        (rate) => [{ rate }, 'rate: must be over a time from 1ms to 3650d'] as const,
      ),
      ...['often', '60/min', '1000000000000/s', '0.5/m', 5].map(
        (rate) =>
          [
            { rate },
            `rate: must be a rate such as 60/m or 5/10s: a whole number from 1 to 999,999,999, a slash, and s, m, h, d or a duration`,
          ] as const,
      ),
      [{ concurrency: 1, burst: 2 }, 'burst: counts for a rate only; add rate, or remove burst'],
    ] as const)
      expect((await put(body).expect(400)).body).toEqual({ detail });
    expect((await board.http.delete('/api/v1/limits/pol').expect(404)).body).toEqual({
      detail: 'Limit not found: pol; did you mean pool?',
    });
    expect(await limit()).toMatchObject({ set_at: null });
  });

  it('list the keys that executions wait for, page by page, and who waits longest', async () => {
    interface Keys {
      items: { key: string | null; running: number; waiting: number; longest: { correlation_id: string } }[];
      pagination: { next: string | null };
    }
    const keys = async (query: object): Promise<Keys> =>
      (await board.http.get('/api/v1/limits/per_customer/keys').query(query).expect(200)).body as Keys;
    expect((await keys({})).items).toEqual([]);
    // A collation of Postgres would put some of these between others.
    const customers = ['a', 'B', 'ä', '"', 17, true];
    for (const [index, customer] of customers.entries()) {
      await publish('Order', `q${index}`, { customer });
      await started(`q${index}`, 1);
      for (const more of ['first', 'second']) {
        await publish('Order', `q${index}-${more}`, { customer });
        await waitsFor(
          `q${index}-${more}`,
          `limit per_customer: 1 of 1 used, ${more === 'first' ? '1st of 1' : '2nd of 2'} for customer ${customer}`,
        );
      }
    }
    const all: Keys['items'] = [];
    let next: string | null = null;
    do {
      const page = await keys({ limit: 4, ...(next !== null && { after: next }) });
      all.push(...page.items);
      next = page.pagination.next;
    } while (next !== null);
    expect(all).toEqual(
      ['"B"', '"\\""', '"a"', '"ä"', '17', 'true'].map((key) => {
        const first = `q${customers.findIndex((one) => JSON.stringify(one) === key)}-first`;
        return {
          ...{ key, running: 1, units_used: null, waiting: 2, room_at: null },
          longest: expect.objectContaining({ agent: 'customer', correlation_id: first }) as object,
        };
      }),
    );
    const limit = (await board.http.get('/api/v1/limits/per_customer').expect(200)).body as object;
    expect(limit).toMatchObject({ running: 6, waiting: 12, longest: { correlation_id: 'q0-first' } });
    expect((await board.http.get('/api/v1/limits/pool').expect(200)).body).toMatchObject({ waiting: 0, longest: null });
    for (const [index] of customers.entries())
      for (const id of [`q${index}`, `q${index}-first`, `q${index}-second`])
        await board.http.post(`/api/v1/correlations/${id}/cancel`).expect(200);
    expect((await keys({})).items).toEqual([]);

    clock.advance(10_000);
    await board.publish('Call', { n: 1 }, { correlation: 'paced-1' });
    await board.publish('Call', { n: 2 }, { correlation: 'paced-2' });
    await board.publish('Call', { n: 3 }, { correlation: 'paced-3' });
    for (const id of ['paced-1', 'paced-2']) expect(await board.ended(id)).toMatchObject({ state: 'completed' });
    await eventually('one waits for the rate', async () => (await limitOf('paced-3')) !== null);
    const paced = (await board.http.get('/api/v1/limits/calls/keys').expect(200)).body as object;
    const room = new Date(clock.now() + 1_000).toISOString();
    expect(paced).toMatchObject({ items: [{ key: null, running: 0, units_used: 2, waiting: 1, room_at: room }] });
    const calls = (): Promise<object> =>
      board.http
        .get('/api/v1/limits/calls')
        .expect(200)
        .then(({ body }) => body as object);
    expect(await calls()).toMatchObject({ burst: 2, units_used: 2 });
    clock.advance(1_000);
    expect(await board.ended('paced-3')).toMatchObject({ state: 'completed' });
    clock.advance(1_000);
    expect(await calls()).toMatchObject({ units_used: 1 });
    await board.http.get('/api/v1/limits/pol/keys').expect(404);
    await board.http.get('/api/v1/limits/pool/keys?after=2').expect(400);
  });

  it.each(['limit_key', 'fair_key', 'priority'])('let work run again that a client has failed as %s', async (type) => {
    const claim = async (): Promise<{ execution_id: string; lease_token: string } | undefined> =>
      (
        await board.http
          .post('/api/v1/executions/claim')
          .send({ agents: ['person'] })
          .expect(200)
      ).body.executions[0];
    await board.publish('Question', {}, { correlation: `failed-as-${type}` });
    const { execution_id: id, lease_token } = (await claim())!;
    await board.http
      .post(`/api/v1/executions/${id}/fail`)
      .send({ lease_token, error_type: type, error_message: 'it is wrong', final: true })
      .expect(200);
    await board.http.post(`/api/v1/executions/${id}/retry`).expect(200);
    let again: Awaited<ReturnType<typeof claim>>;
    await eventually('it is claimed again', async () => (again = await claim()) !== undefined);
    expect(again!.execution_id).toBe(id);
    await board.http
      .post(`/api/v1/executions/${id}/complete`)
      .send({ lease_token: again!.lease_token, outputs: [] })
      .expect(200);
  });

  it('keep what waits, with its key, across a restart, also if `key` has changed; a limit that is gone lets it go', async () => {
    await publish('Order', 'r1', { customer: 5 });
    await started('r1', 1);
    await publish('Order', 'r2', { customer: 5 });
    await waitsFor('r2', 'limit per_customer: 1 of 1 used, 1st of 1 for customer 5');
    await board.close();
    await start();
    await started('r1', 2);
    await waitsFor('r2', 'limit per_customer: 1 of 1 used, 1st of 1 for customer 5');
    await board.close();
    await start(CONFIG.replace('key: payload.customer }', 'key: payload.owner }'));
    await started('r1', 3);
    await publish('Order', 'r3', { customer: 5, owner: 6 });
    await started('r3', 1);
    await waitsFor('r2', 'limit per_customer: 1 of 1 used, 1st of 1 for owner 5');
    await board.close();
    await start(CONFIG.replace('[Order] }], limits: [per_customer]', '[Order] }], limits: [desk]'));
    await started('r1', 4);
    await waitsFor('r2', 'limit per_customer: 1 of 1 used, 1st of 1 for 5');
    await board.close();
    await start(
      CONFIG.replaceAll(/limits: \[.*?\](?=, (?:engine|publishes))/g, 'concurrency: 9').replace(
        /limits:[\s\S]*agents:/,
        'agents:',
      ),
    );
    await started('r2', 1);
  });
});
