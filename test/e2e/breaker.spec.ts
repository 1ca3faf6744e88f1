// Agents with `breaker`. Uses the whole app over HTTP on a database, and a server as remote agent. The clock is faked.
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { answers, Receiver } from '../support/receiver.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { Board } from './board.js';
import { operate } from './operations.js';
import { type Held, Outside } from './outside.js';

const OPEN_MS = 30_000;
/** The time that a client has, by default. */
const LEASE_MS = 60_000;
const GATED = 'publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 5h';
const ONCE = 'retry: { attempts: 1 }';
const breaker = (more = ''): string => `breaker: { failures: 50%, of: 4, open: 30s${more} }`;

const configuration = (remote: string): string => `
limits:
  pool: { concurrency: 1 }
agents:
  sender: { consumes: [{ types: [Mail] }], ${breaker()}, ${ONCE}, ${GATED} }
  slow: { consumes: [{ types: [Slow] }], ${breaker()}, ${ONCE}, ${GATED} }
  keyed: { consumes: [{ types: [Keyed] }], ${breaker(', key: payload.host')}, ${ONCE}, ${GATED} }
  again: { consumes: [{ types: [Again] }], ${breaker()}, retry: { attempts: 3, delay: 1s }, ${GATED} }
  limited: { consumes: [{ types: [Limited] }], limits: [pool], ${breaker()}, ${ONCE}, ${GATED} }
  lasting: { consumes: [{ types: [Lasting] }], limits: [pool], ${ONCE}, ${GATED} }
  cached: { consumes: [{ types: [Text] }], cache: { for: 5h, key: payload.text }, ${breaker()}, ${ONCE}, ${GATED} }
  replayed: { consumes: [{ types: [Original] }], ${breaker()}, ${ONCE}, ${GATED} }
  single: { consumes: [{ types: [Single] }], singleton: { key: payload.order, on_conflict: queue }, ${breaker()}, ${ONCE}, ${GATED} }
  called: { consumes: [{ types: [Called] }], cancel_on: { types: [Off], key: payload.order }, ${breaker()}, ${ONCE}, ${GATED} }
  window: { consumes: [{ types: [Event], batch: { size: 2 } }], ${breaker(", key: 'payload[0].host'")}, engine: { kind: external }, ${ONCE} }
  person: { consumes: [{ types: [Task] }], ${breaker()}, ${ONCE}, engine: { kind: external } }
  later: { consumes: [{ types: [Ask] }], publishes: [{ type: Ended }], ${breaker()}, ${ONCE}, engine: { kind: http, url: "${remote}" } }
`;

interface Execution {
  id: string;
  state: string;
  attempt: number;
  started_at: string | null;
  error_type: string | null;
  error_message: string | null;
}

describe('a breaker', () => {
  const clock = new ManualClock();
  let remote: Receiver;
  let board: Board;
  let outside: Outside;

  beforeAll(async () => {
    remote = await Receiver.start();
    remote.on('/later', answers(202, { location: '/answer' }));
    board = await Board.start(configuration(remote.url('/later')), {
      clock,
      files: { 'gate.js': GATE },
      settings: { shutdownGraceMs: 0 },
    });
    outside = new Outside(board.http);
  });
  afterAll(async () => {
    await board?.close();
    await remote?.close();
  });

  const only = async (correlation_id: string, query: object = {}): Promise<Execution> => {
    const { body } = await board.http
      .get('/api/v1/executions')
      .query({ correlation_id, ...query })
      .expect(200);
    const { items } = body as { items: Execution[] };
    expect(items).toHaveLength(1);
    return items[0]!;
  };

  /** Publishes artifacts whose gates have the names of their correlations. */
  const gated = async (type: string, names: readonly string[], payload: object = {}): Promise<void> => {
    for (const name of names) await board.publish(type, { batch: name, n: 1, ...payload }, { correlation: name });
  };

  const ends = async (name: string, state: string): Promise<void> =>
    expect([name, (await board.ended(name)).state]).toEqual([name, state]);

  /** Publishes them, and lets their attempts fail. Half of four opens a breaker. */
  const fail = async (type: string, names: readonly string[], payload: object = {}): Promise<void> => {
    await gated(type, names, payload);
    for (const name of names) {
      await started(name, 1);
      gatesOf(name)[0]!.fail();
      await ends(name, 'failed');
    }
  };

  const works = async (name: string, attempt = 1): Promise<void> => {
    await started(name, attempt);
    gatesOf(name).at(-1)!.open();
    await ends(name, 'completed');
  };

  const waitsFor = async (name: string, limit: string | RegExp): Promise<void> => {
    let found: string | null = null;
    await eventually(`${name} waits for ${limit}`, async () => {
      const { body } = await board.http.get(`/api/v1/correlations/${name}/waiting`).expect(200);
      found = (body as { items: { limit: string | null }[] }).items[0]?.limit ?? null;
      return found !== null && (typeof limit === 'string' ? found === limit : limit.test(found));
    });
  };

  const shown = async (agent: string): Promise<object | undefined> => {
    const { body } = await board.http.get('/api/v1/agents').expect(200);
    return (body as { agents: { name: string; breaker?: object }[] }).agents.find(({ name }) => name === agent)!
      .breaker;
  };

  const metric = async (agent: string): Promise<string | undefined> =>
    (await board.http.get('/metrics')).text
      .split('\n')
      .find((line) => line.startsWith(`starling_open_breakers{agent="${agent}"}`))
      ?.split(' ')[1];

  it('opens when too many of the last attempts have failed; then work waits, and one attempt decides', async () => {
    const state = { failures: 2, of: 4, open_ms: OPEN_MS, key: null };
    expect(await shown('sender')).toEqual({ ...state, open: 0 });
    await fail('Mail', ['m1']);
    await gated('Mail', ['m2', 'm3']);
    await works('m2');
    await works('m3');
    await fail('Mail', ['m4']);
    expect([await shown('sender'), await metric('sender')]).toEqual([{ ...state, open: 1 }, '1']);

    await gated('Mail', ['m5', 'm6', 'm7']);
    await waitsFor('m5', 'breaker of sender: open, 1st of 3, next in 30.0 s');
    await waitsFor('m7', 'breaker of sender: open, 3rd of 3, next in 30.0 s');
    const [artifact] = await board.artifacts('m6');
    const { body } = await board.http.get(`/api/v1/artifacts/${artifact!.id}/explain`).expect(200);
    expect(JSON.stringify(body)).toContain('waits for breaker of sender: open, 2nd of 3, next in 30.0 s');
    clock.advance(OPEN_MS - 1);
    await waitsFor('m5', /^breaker of sender: open/);
    expect(gatesOf('m5')).toEqual([]);

    clock.advance(1);
    await started('m5', 1);
    await waitsFor('m6', 'breaker of sender: half-open, 1st of 2');
    gatesOf('m5')[0]!.fail();
    await ends('m5', 'failed');
    await waitsFor('m6', 'breaker of sender: open, 1st of 2, next in 30.0 s');
    expect([gatesOf('m6'), gatesOf('m7')]).toEqual([[], []]);

    clock.advance(OPEN_MS);
    await started('m6', 1);
    await waitsFor('m7', 'breaker of sender: half-open, 1st of 1');
    gatesOf('m6')[0]!.open();
    for (const name of ['m6', 'm7']) await works(name);
    expect([await shown('sender'), await metric('sender')]).toEqual([{ ...state, open: 0 }, '0']);
    // The count has begun again.
    await fail('Mail', ['m8']);
    await gated('Mail', ['m9']);
    await works('m9');
  });

  it('counts no attempt from before it opened', async () => {
    await gated('Slow', ['s1', 's2']);
    await started('s2', 1);
    await fail('Slow', ['s3', 's4']);
    await gated('Slow', ['s5', 's6']);
    await works('s1');
    await waitsFor('s5', 'breaker of slow: open, 1st of 2, next in 30.0 s');
    clock.advance(OPEN_MS);
    // The attempt from before does not delay the one that decides.
    await started('s5', 1);
    await works('s2');
    await waitsFor('s6', 'breaker of slow: half-open, 1st of 1');
    await works('s5');
    await works('s6');
  });

  it('holds for its key only', async () => {
    await fail('Keyed', ['k1', 'k2'], { host: 'a' });
    await gated('Keyed', ['k3'], { host: 'a' });
    await gated('Keyed', ['k4'], { host: 'b' });
    await works('k4');
    await waitsFor('k3', 'breaker of keyed: open, 1st of 1 for host a, next in 30.0 s');
    expect(await shown('keyed')).toMatchObject({ key: 'payload.host', open: 1 });
    clock.advance(OPEN_MS);
    await works('k3');
  });

  it('lets a retry wait, too, without an attempt', async () => {
    await gated('Again', ['r1']);
    await started('r1', 1);
    gatesOf('r1')[0]!.fail();
    await eventually('it waits for its next attempt', async () => (await only('r1')).attempt === 2);
    await gated('Again', ['r2']);
    await started('r2', 1);
    gatesOf('r2')[0]!.fail();
    await eventually('it waits for its next attempt', async () => (await only('r2')).attempt === 2);
    clock.advance(5_000);
    await waitsFor('r1', /^breaker of again: open, /);
    expect(await only('r1')).toMatchObject({ state: 'pending', attempt: 2 });
    clock.advance(OPEN_MS);
    await eventually('one of them decides', () => gatesOf('r1').length + gatesOf('r2').length === 3);
    const [first, second] = gatesOf('r1').length === 2 ? ['r1', 'r2'] : ['r2', 'r1'];
    await works(first!, 2);
    await works(second!, 2);
  });

  it('and a limit: the one that decides may wait for the limit', async () => {
    await fail('Limited', ['l1', 'l2']);
    await gated('Limited', ['l4', 'l5']);
    await waitsFor('l4', /^breaker of limited: open, 1st of 2/);
    // Meanwhile it holds no limit.
    await gated('Lasting', ['l3']);
    await started('l3', 1);
    clock.advance(OPEN_MS);
    await waitsFor('l4', /^limit pool: 1 of 1 used/);
    await works('l3');
    await eventually('one of them decides', () => gatesOf('l4').length + gatesOf('l5').length === 1);
    const [first, second] = gatesOf('l4').length === 1 ? ['l4', 'l5'] : ['l5', 'l4'];
    await works(first!);
    await works(second!);
  });

  it('and cache: an answer that is taken decides nothing', async () => {
    await gated('Text', ['c1'], { text: 'known' });
    await works('c1');
    await fail('Text', ['c2'], { text: 'x' });
    await fail('Text', ['c3'], { text: 'y' });
    await gated('Text', ['c4'], { text: 'known' });
    await gated('Text', ['c5'], { text: 'z' });
    for (const name of ['c4', 'c5']) await waitsFor(name, /^breaker of cached: open/);
    clock.advance(OPEN_MS);
    await ends('c4', 'completed');
    await started('c5', 1);
    expect(await shown('cached')).toMatchObject({ open: 1 });
    await works('c5');
    expect(await shown('cached')).toMatchObject({ open: 0 });
  });

  it('and singleton: an execution has its turn while it waits', async () => {
    await fail('Single', ['o1', 'o2'], { order: 'A' });
    await gated('Single', ['o3', 'o4'], { order: 'B' });
    await waitsFor('o3', 'breaker of single: open, 1st of 1, next in 30.0 s');
    await waitsFor('o4', 'singleton of single: 1 of 1 used, 1st of 1 for order B');
    clock.advance(OPEN_MS);
    await works('o3');
    await works('o4');
  });

  it('and cancel, cancel_on and a deadline: the next one decides', async () => {
    await fail('Called', ['x1', 'x2'], { order: 'A' });
    await gated('Called', ['x3'], { order: 'B' });
    await gated('Called', ['x4', 'x5', 'x6'], { order: 'C' });
    await gated('Called', ['x7'], { order: 'D' });
    await board.publish('Called', { batch: 'x8', n: 1, order: 'E' }, { correlation: 'x8', deadline: 'PT10S' });
    await gated('Called', ['x9', 'x10'], { order: 'F' });
    await waitsFor('x10', /^breaker of called: open, 8th of 8/);
    await board.publish('Off', { order: 'B' });
    await ends('x3', 'completed');
    expect(await only('x3')).toMatchObject({ state: 'cancelled' });
    clock.advance(11_000);
    await ends('x8', 'cancelled');
    expect(gatesOf('x4')).toEqual([]);
    clock.advance(OPEN_MS);
    await started('x4', 1);
    await board.http.post('/api/v1/correlations/x4/cancel').expect(200);
    await started('x5', 1);
    await board.publish('Off', { order: 'C' });
    for (const name of ['x5', 'x6']) await ends(name, 'completed');
    await started('x7', 1);
    await waitsFor('x9', 'breaker of called: half-open, 1st of 2');
    for (const name of ['x7', 'x9', 'x10']) await works(name);
    expect([...gatesOf('x6'), ...gatesOf('x8')]).toEqual([]);
  });

  it('and a pause: nothing starts, and after it one decides', async () => {
    await fail('Slow', ['p1', 'p2']);
    await gated('Slow', ['p3', 'p4']);
    await board.http.post('/api/v1/agents/slow/pause').expect(200);
    clock.advance(OPEN_MS);
    await board.http.post('/api/v1/agents/slow/resume').expect(200);
    await eventually('one of them decides', () => gatesOf('p3').length + gatesOf('p4').length === 1);
    const [first, second] = gatesOf('p3').length === 1 ? ['p3', 'p4'] : ['p4', 'p3'];
    await works(first!);
    await works(second!);
  });

  it('and external work: nothing can be claimed, and then one after the other until one is completed', async () => {
    const claim = (): Promise<Held[]> => outside.claim({ agents: ['person'], max: 10 });
    for (let n = 0; n < 4; n += 1) await board.publish('Task', { n });
    const [one, two, ...others] = await claim();
    for (const each of [one!, two!])
      expect((await outside.send(each, 'fail', { error_message: 'down', final: true })).status).toBe(200);
    // They were claimed before, and say nothing new.
    for (const each of others) await outside.send(each, 'complete', { outputs: [] });
    const waiting = [];
    for (let n = 0; n < 3; n += 1) waiting.push(await board.publish('Task', { n }));
    expect(await claim()).toEqual([]);
    const refused = await board.http
      .post(`/api/v1/executions/${(await only(waiting[0]!)).id}/claim`)
      .send({})
      .expect(409);
    expect(JSON.stringify(refused.body)).toContain('it waits for the breaker of person');
    clock.advance(OPEN_MS);
    let probe: Held[] = [];
    await eventually('one can be claimed', async () => (probe = await claim()).length > 0);
    expect(probe).toHaveLength(1);
    expect(await claim()).toEqual([]);
    await outside.send(probe[0]!, 'release');
    await eventually('it can be claimed again', async () => (probe = await claim()).length > 0);
    expect(probe).toHaveLength(1);
    clock.advance(LEASE_MS + 1_000);
    await eventually('its lease has expired, and one can be claimed', async () => (probe = await claim()).length > 0);
    expect(probe).toHaveLength(1);
    expect(await shown('person')).toMatchObject({ open: 1 });
    await outside.send(probe[0]!, 'complete', { outputs: [] });
    const rest: Held[] = [];
    await eventually('the others can be claimed', async () => {
      rest.push(...(await claim()));
      return rest.length === 2;
    });
    for (const each of rest) await outside.send(each, 'complete', { outputs: [] });
    for (const id of waiting) await ends(id, 'completed');
  });

  it('and a batch window: its one execution has a key, which sees the list', async () => {
    for (const host of ['a', 'a', 'a', 'a', 'a', 'a', 'b', 'b']) await board.publish('Event', { host });
    let held: Held[] = [];
    await eventually('all windows can be claimed', async () => {
      held.push(...(await outside.claim({ agents: ['window'], max: 10 })));
      return held.length === 4;
    });
    held = held.filter(({ inputs }) => inputs[0]!.payload.host === 'a');
    for (const each of held.slice(0, 2)) await outside.send(each, 'fail', { error_message: 'down', final: true });
    expect(await shown('window')).toMatchObject({ open: 1 });
    for (const host of ['a', 'a', 'b', 'b']) await board.publish('Event', { host });
    const [next] = await (async () => {
      let found: Held[] = [];
      await eventually('another key can be claimed', async () => {
        found = await outside.claim({ agents: ['window'], max: 10 });
        return found.length > 0;
      });
      return found;
    })();
    expect(next!.inputs.map(({ payload }) => payload.host)).toEqual(['b', 'b']);
    expect(await outside.claim({ agents: ['window'], max: 10 })).toEqual([]);
  });

  it('and a remote agent: an attempt ends with the later answer, or with the timeout', async () => {
    const calls = (): { id: string; token: unknown }[] =>
      remote.at('/later').map(({ body, headers }) => ({
        id: (JSON.parse(body) as { execution_id: string }).execution_id,
        token: headers['starling-lease-token'],
      }));
    /** Ends an attempt once it is left to the remote agent. */
    const end = async (index: number, what: 'complete' | 'fail', body: object): Promise<void> => {
      const { id, token } = calls()[index]!;
      await eventually('the attempt is left to it', async () => {
        const sql = `select lease_owner from executions where id = '${id}'`;
        return (await board.app.database.rows<{ lease_owner: string | null }>(sql))[0]!.lease_owner === null;
      });
      await board.http
        .post(`/api/v1/executions/${id}/${what}`)
        .send({ lease_token: token, ...body })
        .expect(200);
    };
    const called = (count: number) => eventually(`${count} calls`, () => calls().length === count);
    const asked: string[] = [];
    for (let n = 0; n < 2; n += 1) asked.push(await board.publish('Ask', { n }));
    await called(2);
    for (const index of [0, 1]) await end(index, 'fail', { error_message: 'down', final: true });
    for (let n = 2; n < 4; n += 1) asked.push(await board.publish('Ask', { n }));
    await waitsFor(asked[3]!, /^breaker of later: open, 2nd of 2/);
    clock.advance(OPEN_MS);
    await called(3);
    await waitsFor(asked[3]!, 'breaker of later: half-open, 1st of 1');
    expect(calls()).toHaveLength(3);
    await end(2, 'complete', { outputs: [] });
    await called(4);
    await end(3, 'complete', { outputs: [] });
    for (const id of asked.slice(2)) await ends(id, 'completed');
    expect(await shown('later')).toMatchObject({ open: 0 });
    const late = [await board.publish('Ask', { n: 4 }), await board.publish('Ask', { n: 5 })];
    await called(6);
    for (const id of late)
      await eventually('the time for its answer is up', async () => {
        clock.advance(LEASE_MS);
        return (await board.status(id)).state === 'failed';
      });
    expect(await shown('later')).toMatchObject({ open: 1 });
  });

  it('and a replay: its executions neither wait nor count', async () => {
    await gated('Original', ['y0']);
    await works('y0');
    await fail('Original', ['y1', 'y2']);
    const { body } = await board.http.post('/api/v1/correlations/y0/replay').send({ mode: 'full' }).expect(200);
    const { correlation_id: replay } = body as { correlation_id: string };
    await works('y0', 2);
    await ends(replay, 'completed');
    expect(await shown('replayed')).toMatchObject({ open: 1 });
  });

  it.each([
    ['is null', { host: null }, 'breaker: its key is null'],
    ['fails', {}, expect.stringMatching(/^breaker: its key fails: /) as string],
    ['gives a list', { host: ['a'] }, 'breaker: its key must give a text, a number or a boolean'],
    ['is long', { host: 'x'.repeat(201) }, 'breaker: its key is longer than 200 characters'],
  ])('fails an execution whose key %s', async (_, payload, error_message) => {
    const correlation = await board.publish('Keyed', payload);
    await ends(correlation, 'failed');
    expect(await only(correlation)).toMatchObject({ error_type: 'breaker_key', error_message });
  });

  it('is not open for longer if the clock is set back', async () => {
    await fail('Keyed', ['b1', 'b2'], { host: 'back' });
    await gated('Keyed', ['b3', 'b4'], { host: 'back' });
    await waitsFor('b4', /^breaker of keyed: open, 2nd of 2/);
    clock.advance(-2 * 3_600_000);
    await waitsFor('b3', 'breaker of keyed: open, 1st of 2 for host back, next in 30.0 s');
    // The next look at what waits stores it.
    const open = `select open_until from breakers where breaker_key = '[" breaker of keyed","back"]'`;
    await eventually('its end is near', async () => {
      const [row] = await board.app.database.rows<{ open_until: number }>(open);
      return Number(row!.open_until) === clock.now() + OPEN_MS;
    });
    clock.advance(OPEN_MS);
    await started('b3', 1);
    await waitsFor('b4', 'breaker of keyed: half-open, 1st of 1 for host back');
    await works('b3');
    await works('b4');
  });

  it('forgets after a day', async () => {
    const rows = () => board.app.database.rows('select breaker_key from breakers');
    await fail('Keyed', ['f1'], { host: 'f' });
    expect(await rows()).toContainEqual({ breaker_key: '[" breaker of keyed","f"]' });
    clock.advance(2 * 86_400_000);
    await eventually('nothing is remembered', async () => (await rows()).length === 0);
  });
});

describe('a breaker after a restart', () => {
  const clock = new ManualClock();
  const folder = new ConfigurationFolder();
  let board: Board;

  const restart = async (more: string): Promise<Outside> => {
    await board?.close();
    const config = `agents:\n  person: { consumes: [{ types: [Task] }], ${more} ${ONCE}, engine: { kind: external } }\n`;
    board = await Board.start(config, { clock, folder: folder.path });
    return new Outside(board.http);
  };

  afterAll(async () => {
    await board?.close();
    await board?.app.database.drop();
    folder.remove();
  });

  it('is as before, and lets all start if the configuration no longer has it', async () => {
    let outside = await restart(`${breaker()},`);
    const claim = () => outside.claim({ agents: ['person'], max: 10 });
    for (let n = 0; n < 2; n += 1) await board.publish('Task', { n });
    for (const held of await claim()) await outside.send(held, 'fail', { error_message: 'down', final: true });
    for (let n = 0; n < 3; n += 1) await board.publish('Task', { n });
    expect(await claim()).toEqual([]);
    outside = await restart(`${breaker()},`);
    expect(await claim()).toEqual([]);
    outside = await restart('');
    const all: Held[] = [];
    await eventually('all can be claimed', async () => {
      all.push(...(await claim()));
      return all.length === 3;
    });
    for (const held of all) await outside.send(held, 'complete', { outputs: [] });
    // Then processes without the agent, which go by the database, keep nothing waiting either.
    expect(await board.app.database.rows('select * from breakers')).toEqual([]);
  });

  it('lets what waits go while no process has the agent, so that it is seen and can be ended', async () => {
    const outside = await restart(`${breaker()},`);
    for (let n = 0; n < 2; n += 1) await board.publish('Task', { n });
    for (const held of await outside.claim({ agents: ['person'], max: 10 }))
      await outside.send(held, 'fail', { error_message: 'down', final: true });
    const ids: string[] = [];
    for (let n = 0; n < 3; n += 1) ids.push(await board.publish('Task', { n }));
    expect(await outside.claim({ agents: ['person'], max: 10 })).toEqual([]);
    await board.close();
    const other = 'agents: { other: { consumes: [{ types: [Other] }], engine: { kind: external } } }\n';
    board = await Board.start(other, { clock, folder: folder.path });
    clock.advance(OPEN_MS);
    const waiting = 'select id from executions where blocked_on is not null and ended_at is null';
    await eventually('none waits for the breaker', async () => (await board.app.database.rows(waiting)).length === 0);
    expect(await operate(board.http, 'fail', { agent: 'person' })).toMatchObject({ state: 'completed', done: 3 });
    for (const id of ids) expect(await board.ended(id)).toMatchObject({ state: 'failed' });
  });
});
