// Limits with `hold`. Uses the whole app over HTTP on a database, and a server as remote agent. The clock is faked.
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { answers, Receiver } from '../support/receiver.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { Board } from './board.js';
import { operate } from './operations.js';
import { type Held, Outside } from './outside.js';

const HOUR = 3_600_000;
const GATED = 'publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 50h';
const TWICE = 'retry: { attempts: 2, delay: 1h, max_delay: 1h }';

const configuration = (remote: string): string => `
limits:
  kept: { concurrency: 1, hold: true }
  keyed: { concurrency: 1, hold: true, key: payload.key }
  plain: { concurrency: 1 }
  paced: { concurrency: 1, rate: 1/m, hold: true }
  shared: { concurrency: 2, rate: 1/m, hold: true }
  asked: { concurrency: 1, hold: true }
  desk: { concurrency: 1, hold: true }
  rooms: { concurrency: 2, hold: true }
agents:
  keeper: { consumes: [{ types: [Kept] }], limits: [kept], ${TWICE}, ${GATED} }
  keyer: { consumes: [{ types: [Keyed] }], limits: [keyed], ${TWICE}, ${GATED} }
  both: { consumes: [{ types: [Both] }], limits: [kept, plain], ${TWICE}, ${GATED} }
  plainer: { consumes: [{ types: [Plain] }], limits: [plain], ${TWICE}, ${GATED} }
  pacer: { consumes: [{ types: [Paced], priority: 'has(payload.urgent) ? 1 : 0' }], limits: [paced], retry: { attempts: 2, delay: 1s, max_delay: 1s }, ${GATED} }
  sharer: { consumes: [{ types: [Shared] }], limits: [shared], fair_by: payload.tenant, weight: payload.weight, retry: { attempts: 2, delay: 1s, max_delay: 1s }, ${GATED} }
  later: { consumes: [{ types: [Ask] }], publishes: [{ type: Ended }], limits: [asked], engine: { kind: http, url: "${remote}" } }
  person: { consumes: [{ types: [Task] }], limits: [desk], engine: { kind: external } }
  guest: { consumes: [{ types: [Visit] }], limits: [rooms], engine: { kind: external } }
`;

describe('a limit with hold', () => {
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

  const publish = async (type: string, name: string, payload: object = {}): Promise<void> => {
    await board.publish(type, { batch: name, n: 1, ...payload }, { correlation: name });
  };

  const only = async (correlation_id: string): Promise<{ id: string; state: string; attempt: number }> => {
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id }).expect(200);
    const { items } = body as { items: { id: string; state: string; attempt: number }[] };
    expect(items).toHaveLength(1);
    return items[0]!;
  };

  const waitsFor = async (name: string, limit: string | RegExp): Promise<void> => {
    await eventually(`${name} waits for ${limit}`, async () => {
      const { body } = await board.http.get(`/api/v1/correlations/${name}/waiting`).expect(200);
      const found = (body as { items: { limit: string | null }[] }).items[0]?.limit ?? null;
      return found !== null && (typeof limit === 'string' ? found === limit : limit.test(found));
    });
  };

  /** Lets the first attempt fail, and waits until the execution waits for its next one. */
  const failsOnce = async (name: string): Promise<void> => {
    await started(name, 1);
    gatesOf(name)[0]!.fail();
    await eventually('it waits for its next attempt', async () => (await only(name)).attempt === 2);
  };

  const works = async (name: string, attempt = 1): Promise<void> => {
    await started(name, attempt);
    gatesOf(name).at(-1)!.open();
    expect([name, (await board.ended(name)).state]).toEqual([name, 'completed']);
  };

  it('counts an execution that waits for its next attempt, which then needs no other share', async () => {
    await publish('Kept', 'r1');
    await failsOnce('r1');
    await publish('Kept', 'r2');
    await waitsFor('r2', 'limit kept: 1 of 1 used, 1st of 1');
    const { body } = await board.http.get('/api/v1/limits/kept').expect(200);
    expect(body).toMatchObject({ hold: true, running: 1, waiting: 1 });
    clock.advance(2 * HOUR);
    await started('r1', 2);
    expect(gatesOf('r2')).toEqual([]);
    await works('r1', 2);
    await works('r2');
  });

  it('is given back at the last failure, and taken again by a retry by hand', async () => {
    await publish('Kept', 'f1');
    await failsOnce('f1');
    clock.advance(2 * HOUR);
    await started('f1', 2);
    gatesOf('f1')[1]!.fail();
    expect(await board.ended('f1')).toMatchObject({ state: 'failed' });
    await publish('Kept', 'f2');
    await started('f2', 1);
    await board.http.post(`/api/v1/executions/${(await only('f1')).id}/retry`).expect(200);
    await waitsFor('f1', 'limit kept: 1 of 1 used, 1st of 1');
    await works('f2');
    await works('f1', 3);
  });

  it('is given back when a request ends what waits', async () => {
    await publish('Kept', 'e1');
    await failsOnce('e1');
    await publish('Kept', 'e2');
    await waitsFor('e2', /^limit kept: /);
    expect(await operate(board.http, 'fail', { correlation_id: 'e1', agent: 'keeper' })).toMatchObject({ done: 1 });
    await works('e2');
  });

  it('is given back when what waits is cancelled, or its deadline passes', async () => {
    await publish('Kept', 'c1');
    await failsOnce('c1');
    await publish('Kept', 'c2');
    await waitsFor('c2', /^limit kept: /);
    await board.http.post('/api/v1/correlations/c1/cancel').expect(200);
    await works('c2');
    await board.publish('Kept', { batch: 'c3', n: 1 }, { correlation: 'c3', deadline: 'PT10M' });
    await failsOnce('c3');
    await publish('Kept', 'c4');
    await waitsFor('c4', /^limit kept: /);
    clock.advance(HOUR / 2);
    expect((await board.ended('c3')).state).toBe('cancelled');
    await works('c4');
  });

  it('holds for each key', async () => {
    await publish('Keyed', 'k1', { key: 'a' });
    await failsOnce('k1');
    await publish('Keyed', 'k2', { key: 'a' });
    await publish('Keyed', 'k3', { key: 'b' });
    await works('k3');
    await waitsFor('k2', 'limit keyed: 1 of 1 used, 1st of 1 for key a');
    clock.advance(2 * HOUR);
    await works('k1', 2);
    await works('k2');
  });

  it('and another limit without it: the next attempt waits for that one alone', async () => {
    await publish('Both', 'b1');
    await failsOnce('b1');
    // Between its attempts it holds one of the two.
    await publish('Plain', 'b2');
    await started('b2', 1);
    await publish('Kept', 'b3');
    await waitsFor('b3', 'limit kept: 1 of 1 used, 1st of 1');
    clock.advance(2 * HOUR);
    await waitsFor('b1', 'limit plain: 1 of 1 used, 1st of 1');
    await works('b2');
    await works('b1', 2);
    await works('b3');
  });

  it('and a rate: the next attempt waits for the rate, while others wait for its share', async () => {
    await publish('Paced', 'p1');
    await started('p1', 1);
    await publish('Paced', 'p2', { urgent: true });
    await waitsFor('p2', /^limit paced: 1 of 1 used/);
    gatesOf('p1')[0]!.fail();
    await eventually('it waits for its next attempt', async () => (await only('p1')).attempt === 2);
    clock.advance(5_000);
    await waitsFor('p1', /^limit paced: 1 of 1 used, 2nd of 2, next in 5\d\.\d s$/);
    await waitsFor('p2', 'limit paced: 1 of 1 used, 1st of 2');
    clock.advance(60_000);
    await started('p1', 2);
    expect(gatesOf('p2')).toEqual([]);
    await works('p1', 2);
    clock.advance(60_000);
    await works('p2');
  });

  it('and fair_by: what has started before comes first, whatever the turns of the keys', async () => {
    await publish('Shared', 't1', { tenant: 'a', weight: 1 });
    await started('t1', 1);
    await publish('Shared', 't2', { tenant: 'b', weight: 100 });
    await waitsFor('t2', /^limit shared: 1 of 1 used, .*, next in 60\.0 s$/);
    gatesOf('t1')[0]!.fail();
    await eventually('it waits for its next attempt', async () => (await only('t1')).attempt === 2);
    clock.advance(5_000);
    await waitsFor('t1', /^limit shared: 1 of 1 used, .*next in 5\d\.\d s$/);
    clock.advance(60_000);
    await started('t1', 2);
    expect(gatesOf('t2')).toEqual([]);
    await works('t1', 2);
    clock.advance(60_000);
    await works('t2');
  });

  it('and a rate that a client removes: the execution that holds the limit starts', async () => {
    clock.advance(60_000);
    await publish('Paced', 'p3');
    await started('p3', 1);
    gatesOf('p3')[0]!.fail();
    await eventually('it waits for its next attempt', async () => (await only('p3')).attempt === 2);
    clock.advance(5_000);
    await waitsFor('p3', /next in 5\d\.\d s$/);
    await board.http.put('/api/v1/limits/paced').send({ concurrency: 1 }).expect(200);
    await started('p3', 2);
    await works('p3', 2);
    await board.http.delete('/api/v1/limits/paced').expect(200);
  });

  it('and a remote agent: it holds until the later answer', async () => {
    const asked = [await board.publish('Ask', {}), await board.publish('Ask', {})];
    const calls = () => remote.at('/later');
    const complete = async (index: number): Promise<void> => {
      await eventually(`call ${index}`, () => calls().length > index);
      const { body, headers } = calls()[index]!;
      const { execution_id: id } = JSON.parse(body) as { execution_id: string };
      await eventually('the attempt is left to it', async () => {
        const sql = `select lease_owner from executions where id = '${id}'`;
        return (await board.app.database.rows<{ lease_owner: string | null }>(sql))[0]!.lease_owner === null;
      });
      if (index === 0) {
        await waitsFor(asked[1]!, 'limit asked: 1 of 1 used, 1st of 1');
        expect(calls()).toHaveLength(1);
      }
      await board.http
        .post(`/api/v1/executions/${id}/complete`)
        .send({ lease_token: headers['starling-lease-token'], outputs: [] })
        .expect(200);
    };
    await complete(0);
    await complete(1);
    for (const id of asked) expect(await board.ended(id)).toMatchObject({ state: 'completed' });
  });

  it('and a lower value: those that hold it run one after the other', async () => {
    for (const name of ['l1', 'l2']) await publish('Visit', name);
    const claim = async (): Promise<Held[]> => await outside.claim({ agents: ['guest'], max: 10 });
    const both = await claim();
    expect(both.map(({ correlation_id: id }) => id)).toEqual(['l1', 'l2']);
    for (const held of both) await outside.send(held, 'release');
    await board.http.put('/api/v1/limits/rooms').send({ concurrency: 1 }).expect(200);
    for (const name of ['l1', 'l2']) {
      const held = await outside.claimOne({ agents: ['guest'], wait: 10 });
      expect(held).toMatchObject({ correlation_id: name });
      expect(await claim()).toEqual([]);
      await outside.send(held, 'complete', { outputs: [] });
    }
  });

  it('and external work: it holds from the first claim, also after a release', async () => {
    const claim = (): Promise<Held[]> => outside.claim({ agents: ['person'], max: 10 });
    const first = await board.publish('Task', {});
    const second = await board.publish('Task', {});
    const [held, ...others] = await claim();
    expect([held?.correlation_id, others]).toEqual([first, []]);
    await outside.send(held!, 'release');
    await waitsFor(second, 'limit desk: 1 of 1 used, 1st of 1');
    const [again, ...more] = await claim();
    expect([again?.correlation_id, more]).toEqual([first, []]);
    await outside.send(again!, 'complete', { outputs: [] });
    let next: Held[] = [];
    await eventually('the other one can be claimed', async () => (next = await claim()).length > 0);
    expect(next).toMatchObject([{ correlation_id: second }]);
    await outside.send(next[0]!, 'complete', { outputs: [] });
    expect(await board.ended(second)).toMatchObject({ state: 'completed' });
  });
});

describe('a limit with hold after a restart with another file', () => {
  let folder: ConfigurationFolder;
  let board: Board;
  let close: Board['close'];

  beforeEach(() => {
    folder = new ConfigurationFolder();
    close = () => Promise.resolve();
  });

  const start = async (config: string): Promise<Outside> => {
    await close();
    board = await Board.start(config, { folder: folder.path });
    close = () => board.close();
    return new Outside(board.http);
  };

  const person = (limits: string): string =>
    `person: { consumes: [{ types: [Task], priority: payload.priority }], limits: ${limits}, engine: { kind: external } }`;

  const restart = (limit: string): Promise<Outside> =>
    start(`limits:\n  desk: ${limit}\nagents:\n  ${person('[desk]')}\n`);

  afterEach(async () => {
    await close();
    await board.app.database.drop();
    folder.remove();
  });

  it('is held only by what starts from then on', async () => {
    let outside = await restart('{ concurrency: 1, hold: true }');
    const first = await board.publish('Task', { priority: 0 });
    await outside.send(await outside.claimOne({ agents: ['person'] }), 'release');
    await restart('{ concurrency: 1 }');
    outside = await restart('{ concurrency: 1, hold: true }');
    const second = await board.publish('Task', { priority: 1 });
    const held = await outside.claimOne({ agents: ['person'] });
    expect(held).toMatchObject({ correlation_id: second });
    await outside.send(held, 'complete', { outputs: [] });
    expect(await outside.claimOne({ agents: ['person'], wait: 60 })).toMatchObject({ correlation_id: first });
  });

  it('is held as before, and only what runs uses it if the configuration no longer has hold', async () => {
    let outside = await restart('{ concurrency: 1, hold: true }');
    const claim = () => outside.claim({ agents: ['person'], max: 10 });
    const claimed = async () => (await claim()).map(({ correlation_id: id }) => id);
    const first = await board.publish('Task', { priority: 0 });
    await outside.send((await claim())[0]!, 'release');
    const second = await board.publish('Task', { priority: 1 });
    outside = await restart('{ concurrency: 1, hold: true }');
    const [held, ...others] = await claim();
    expect([held?.correlation_id, others]).toEqual([first, []]);
    await outside.send(held!, 'release');
    await board.http.post('/api/v1/agents/person/pause').expect(200);
    outside = await restart('{ concurrency: 1 }');
    await eventually('the other one waits for the limit no more', async () => {
      const sql = `select blocked_on from executions where correlation_id = '${second}'`;
      return (await board.app.database.rows<{ blocked_on: string | null }>(sql))[0]!.blocked_on === null;
    });
    await board.http.post('/api/v1/agents/person/resume').expect(200);
    expect(await claimed()).toEqual([second]);
    expect(await claimed()).toEqual([]);
  });

  it('is held by what starts while the file lacks it, so that no two executions wait for what the other one holds', async () => {
    const restart = (limits: string, names: string): Promise<Outside> =>
      start(`limits: ${limits}\nagents:\n  ${person(names)}\n`);
    let outside = await restart('{ desk: { concurrency: 1, hold: true }, room: { concurrency: 1 } }', '[desk, room]');
    const first = await board.publish('Task', { priority: 0 });
    await outside.send(await outside.claimOne({ agents: ['person'] }), 'release');
    const second = await board.publish('Task', { priority: 1 });
    outside = await restart('{ room: { concurrency: 1, hold: true } }', '[room]');
    await outside.send(await outside.claimOne({ agents: ['person'] }), 'release');
    outside = await restart(
      '{ desk: { concurrency: 1, hold: true }, room: { concurrency: 1, hold: true } }',
      '[desk, room]',
    );
    for (const correlation of [second, first]) {
      const held = await outside.claimOne({ agents: ['person'], wait: 10 });
      expect(held).toMatchObject({ correlation_id: correlation });
      await outside.send(held, 'complete', { outputs: [] });
    }
  });

  it('is held from the next start on by what has started before', async () => {
    const restart = (room: string): Promise<Outside> =>
      start(`limits: { desk: { concurrency: 1, hold: true }, room: ${room} }
agents:
  ${person('[desk, room]')}
  guest: { consumes: [{ types: [Visit] }], limits: [room], engine: { kind: external } }
`);
    let outside = await restart('{ concurrency: 1 }');
    await board.publish('Task', { priority: 0 });
    await outside.send(await outside.claimOne({ agents: ['person'] }), 'release');
    // After the release, it holds one of the two.
    await board.publish('Visit', {});
    await outside.send(await outside.claimOne({ agents: ['guest'] }), 'complete', { outputs: [] });

    outside = await restart('{ concurrency: 1, hold: true }');
    await outside.send(await outside.claimOne({ agents: ['person'] }), 'release');
    await board.publish('Visit', {});
    expect(await outside.claim({ agents: ['guest'], max: 10 })).toEqual([]);
    const again = await outside.claimOne({ agents: ['person'] });
    await outside.send(again, 'complete', { outputs: [] });
    let held: Held[] = [];
    await eventually(
      'the guest can be claimed',
      async () => (held = await outside.claim({ agents: ['guest'], max: 10 })).length > 0,
    );
    await outside.send(held[0]!, 'complete', { outputs: [] });
  });
});
