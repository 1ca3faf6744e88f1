// Pairs of rules that share a step. Uses the whole app over HTTP on a database. The clock is faked.
import { eventually } from '../support/eventually.js';
import { answers, type Received, Receiver } from '../support/receiver.js';
import { requestIn } from '../support/remote-agent.js';
import { ended, gatesOf, send, started } from './batch-board.js';
import { type Execution, EXTERNAL, GATED, MINUTE, namesOf, ONCE, PairsBoard, RETRY, TWICE } from './pairs-board.js';

/** One failure opens it. */
const breaker = (key = "''"): string => `breaker: { failures: 50%, of: 2, open: 5m, key: "${key}" }`;
const DEBOUNCE = 'debounce: { key: payload.document, wait: 1m, at_most: 5m }';
const CALLED_OFF = 'cancel_on: { types: [Off], key: payload.order }';

const configuration = (remote: string): string => `
limits:
${['breaker', 'turn', 'rows', 'pause', 'off'].map((name) => `  held_${name}: { concurrency: 1, hold: true }`).join('\n')}
  room: { concurrency: 1, key: payload.room }
  desk: { concurrency: 1 }
  seat: { concurrency: 1 }
  line: { concurrency: 1 }
  counter: { concurrency: 1 }
  phone: { concurrency: 1 }
agents:
  held_breaker: { consumes: [{ types: [HeldBreaker] }], limits: [held_breaker], ${breaker()}, ${TWICE}, ${GATED} }
  held_turn: { consumes: [{ types: [HeldTurn] }], limits: [held_turn], singleton: { key: payload.order, on_conflict: queue }, ${TWICE}, ${GATED} }
  held_rows: { consumes: [{ types: [HeldRow] }], limits: [held_rows], ${TWICE}, ${GATED} }
  held_pause: { consumes: [{ types: [HeldPause] }], limits: [held_pause], ${TWICE}, ${GATED} }
  beside_pause: { consumes: [{ types: [BesidePause] }], limits: [held_pause], ${GATED} }
  held_off: { consumes: [{ types: [HeldOff] }], limits: [held_off], ${CALLED_OFF}, ${TWICE}, ${GATED} }
  last_limit: { consumes: [{ types: [LastLimit], ${DEBOUNCE} }], limits: [room], ${GATED} }
  guest: { consumes: [{ types: [Guest] }], limits: [room], ${GATED} }
  last_breaker: { consumes: [{ types: [LastBreaker], ${DEBOUNCE} }], ${breaker('payload.host')}, ${ONCE}, ${GATED} }
  last_cache: { consumes: [{ types: [LastCache], ${DEBOUNCE} }], cache: { for: 5h, key: payload.text }, ${GATED} }
  last_fair: { consumes: [{ types: [LastFair], ${DEBOUNCE} }], fair_by: payload.tenant, ${EXTERNAL} }
  last_off: { consumes: [{ types: [LastOff], ${DEBOUNCE} }], ${CALLED_OFF}, ${EXTERNAL} }
  fair_breaker: { consumes: [{ types: [FairBreaker] }], fair_by: payload.tenant, ${breaker()}, ${ONCE}, ${EXTERNAL} }
  join_breaker: { consumes: [{ types: [Left, Right] }], ${breaker('payload.Left.host')}, ${ONCE}, ${GATED} }
  rows_breaker: { consumes: [{ types: [Row] }], ${breaker()}, ${ONCE}, ${GATED} }
  off_rows: { consumes: [{ types: [OffRow] }], ${CALLED_OFF}, ${EXTERNAL} }
  cached_limit: { consumes: [{ types: [CachedLimit] }], limits: [seat], cache: { for: 5h, key: payload.text }, ${GATED} }
  sitter: { consumes: [{ types: [Sitter] }], limits: [seat], ${GATED} }
  shown_breaker: { consumes: [{ types: [Shown] }], ${breaker('payload.host')}, ${ONCE}, ${GATED} }
  cached_pause: { consumes: [{ types: [CachedPause] }], cache: { for: 10m, key: payload.text }, ${GATED} }
  cached_fair: { consumes: [{ types: [CachedFair] }], fair_by: payload.tenant, cache: { for: 5h, key: payload.text }, concurrency: 1, ${GATED} }
  fair_retry: { consumes: [{ types: [FairRetry] }], fair_by: payload.tenant, retry: { attempts: 5, delay: 0s }, ${EXTERNAL} }
  varied: { consumes: [{ types: [Varied] }], publishes: [{ type: Ended }], cache: { for: 5h, key: payload.text }, engine: { kind: expression, expression: "{ 'by': 'base' }" }, variants: { other: { share: 50%, expression: "{ 'by': 'other' }" } } }
  ticked: { consumes: [{ types: [Ticked] }], limits: [line], timeout: 50h, ${EXTERNAL} }
  fair_remote: { consumes: [{ types: [FairRemote] }], publishes: [{ type: Ended }], fair_by: payload.tenant, concurrency: 1, engine: { kind: http, url: "${remote}" } }
  ranked_limit: { consumes: [{ types: [Ranked], priority: payload.urgency }], limits: [counter], ${GATED} }
  middle_limit: { consumes: [{ types: [Middle], priority: 3 }], limits: [counter], ${GATED} }
  later_limit: { consumes: [{ types: [Ask] }], publishes: [{ type: Ended }], limits: [phone], engine: { kind: http, url: "${remote}/limit" } }
  caller: { consumes: [{ types: [Call] }], limits: [phone], ${GATED} }
  cached_window: { consumes: [{ types: [CachedPart], batch: { size: 2 } }], cache: { for: 5h }, ${GATED} }
  cached_rows: { consumes: [{ types: [CachedRow] }], cache: { for: 5h, key: payload.text }, ${GATED} }
  cached_off: { consumes: [{ types: [CachedOff] }], cache: { for: 5h, key: payload.text }, ${CALLED_OFF}, ${GATED} }
  two_breaker: { consumes: [{ types: [Two] }], ${breaker()}, concurrency: 2, ${ONCE}, ${GATED} }
  fair_limit: { consumes: [{ types: [FairLimit] }], fair_by: payload.tenant, limits: [desk], ${EXTERNAL} }
`;

describe('together go', () => {
  const pairs = new PairsBoard();
  const { clock, publish, publishHidden, executions, only, areQueued, ends, fails, failsOnce, works, waitsFor } = pairs;
  const { callOff, pause, resume, claim, complete, replay } = pairs;
  let remote: Receiver;

  beforeAll(async () => {
    remote = await Receiver.start();
    remote.on('/later', answers(202, { location: '/later' }));
    await pairs.start(configuration(remote.url('/later')));
  });
  afterAll(async () => {
    await pairs.close();
    await remote?.close();
  });

  describe('a limit with hold', () => {
    it('and a breaker: what waits for the breaker keeps its share, and decides', async () => {
      await publish('HeldBreaker', ['hb1']);
      await failsOnce('hb1');
      await publish('HeldBreaker', ['hb2']);
      clock.advance(RETRY);
      await waitsFor('hb1', /^breaker of held_breaker: open, /);
      await waitsFor('hb2', /^(breaker of held_breaker: open|limit held_breaker: 1 of 1 used)/);
      clock.advance(5 * MINUTE);
      await started('hb1', 2);
      expect(gatesOf('hb2')).toEqual([]);
      await works('hb1', 2);
      await works('hb2');
    });

    it('and singleton: an execution keeps its turn and its share between its attempts', async () => {
      await publish('HeldTurn', ['ht1'], { order: 'A' });
      await failsOnce('ht1');
      await publish('HeldTurn', ['ht2'], { order: 'A' });
      await publish('HeldTurn', ['ht3'], { order: 'B' });
      await waitsFor('ht2', /^singleton of held_turn: 1 of 1 used, 1st of 1 for A$/);
      await waitsFor('ht3', /^limit held_turn: 1 of 1 used, 1st of 1$/);
      clock.advance(RETRY);
      await works('ht1', 2);
      for (const name of ['ht2', 'ht3']) await works(name);
    });

    it('and the rows of a batch: the next row starts when the one before has ended', async () => {
      const rows = ['hr1', 'hr2'];
      const batch = await send(
        pairs.board,
        'held_rows',
        rows.map((name) => ({ batch: name, n: 1 })),
        { max_workers: 2 },
      );
      await eventually('one has started', () => rows.some((name) => gatesOf(name).length > 0));
      const [first, second] = gatesOf('hr1').length > 0 ? rows : rows.toReversed();
      gatesOf(first!)[0]!.fail();
      await eventually('it waits for its next attempt', async () => {
        const { body } = await pairs.board.http.get('/api/v1/executions').query({ agent: 'held_rows' }).expect(200);
        return (body as { items: Execution[] }).items.some(({ attempt }) => attempt === 2);
      });
      await eventually('the other one waits', async () => {
        const { body } = await pairs.board.http.get('/api/v1/limits/held_rows').expect(200);
        return (body as { running: number; waiting: number }).waiting === 1;
      });
      clock.advance(RETRY);
      await started(first!, 2);
      expect(gatesOf(second!)).toEqual([]);
      gatesOf(first!)[1]!.open();
      await started(second!, 1);
      gatesOf(second!)[0]!.open();
      expect(await ended(pairs.board, batch)).toMatchObject({ status: 'completed', completed_items: 2 });
    });

    it('and a pause: an execution of a paused agent keeps its share from other agents', async () => {
      await publish('HeldPause', ['hp1']);
      await failsOnce('hp1');
      await pause('held_pause');
      await publish('BesidePause', ['hp2']);
      await waitsFor('hp2', /^limit held_pause: 1 of 1 used/);
      clock.advance(RETRY);
      await resume('held_pause');
      await started('hp1', 2);
      expect(gatesOf('hp2')).toEqual([]);
      await works('hp1', 2);
      await works('hp2');
    });

    it('and cancel_on: what is cancelled while it waits gives its share back', async () => {
      await publish('HeldOff', ['ho1'], { order: 'ho' });
      await failsOnce('ho1');
      await publish('HeldOff', ['ho2'], { order: 'other' });
      await waitsFor('ho2', /^limit held_off: 1 of 1 used/);
      const off = await callOff('ho');
      expect(await only('ho1')).toMatchObject({ state: 'cancelled', cancelled_by: off });
      await works('ho2');
    });
  });

  describe('debounce', () => {
    it('and a limit: an artifact in a window holds nothing, and the key is that of the last one', async () => {
      await publish('LastLimit', ['dl1'], { document: 'd', room: 'a' });
      await publish('LastLimit', ['dl2'], { document: 'd', room: 'b' });
      await publish('Guest', ['dl3'], { room: 'a' });
      await publish('Guest', ['dl4'], { room: 'b' });
      await started('dl3', 1);
      await started('dl4', 1);
      clock.advance(MINUTE);
      await waitsFor('dl2', /^limit room: 1 of 1 used, 1st of 1 for b$/);
      await works('dl4');
      await works('dl2');
      await works('dl3');
      expect(gatesOf('dl1')).toEqual([]);
    });

    it('and a breaker: windows end while it is open, and the key is that of the last artifact', async () => {
      await publish('LastBreaker', ['db1'], { document: 'd', host: 'down' });
      clock.advance(MINUTE);
      await fails('db1');
      await ends('db1', 'failed');
      await publish('LastBreaker', ['db2'], { document: 'd', host: 'up' });
      await publish('LastBreaker', ['db3'], { document: 'd', host: 'down' });
      await publish('LastBreaker', ['db4'], { document: 'e', host: 'down' });
      await publish('LastBreaker', ['db5'], { document: 'e', host: 'up' });
      clock.advance(MINUTE);
      await works('db5');
      await waitsFor('db3', /^breaker of last_breaker: open, 1st of 1 for down/);
      clock.advance(5 * MINUTE);
      await works('db3');
      expect([...gatesOf('db2'), ...gatesOf('db4')]).toEqual([]);
    });

    it('and cache: the last artifact takes the answer, and the earlier ones neither take nor give one', async () => {
      await publish('LastCache', ['dc1'], { document: 'd', text: 'known' });
      clock.advance(MINUTE);
      await works('dc1');
      await publish('LastCache', ['dc2'], { document: 'd', text: 'new' });
      await publish('LastCache', ['dc3'], { document: 'd', text: 'known' });
      clock.advance(MINUTE);
      await ends('dc3');
      expect(await only('dc3')).toMatchObject({ cached_from: (await only('dc1')).id });
      await publish('LastCache', ['dc4'], { document: 'd', text: 'new' });
      clock.advance(MINUTE);
      await works('dc4');
      expect([...gatesOf('dc2'), ...gatesOf('dc3')]).toEqual([]);
    });

    it('and fair_by: the executions of ended windows take turns by the keys of their last artifacts', async () => {
      await publish('LastFair', ['df0'], { document: 'd3', tenant: 'a' });
      for (const [n, tenant] of ['a', 'a', 'b'].entries())
        await publish('LastFair', [`df${n + 1}`], { document: `d${n + 1}`, tenant });
      clock.advance(MINUTE);
      await areQueued('df1', 'df2', 'df3');
      const held = [...(await claim('last_fair', 2)), ...(await claim('last_fair'))];
      expect(namesOf(held).slice(0, 2).includes('df3')).toBe(true);
      expect(namesOf(held).sort()).toEqual(['df1', 'df2', 'df3']);
      await complete(held);
    });

    it('and cancel_on: it cancels an execution that waits, and no artifact in a window', async () => {
      await publish('LastOff', ['do1'], { document: 'd', order: 'do' });
      await callOff('do');
      clock.advance(MINUTE);
      await eventually('its execution waits', async () => (await executions('do1')).length === 1);
      const off = await callOff('do');
      expect(await only('do1')).toMatchObject({ state: 'cancelled', cancelled_by: off });
      await ends('do1');
    });
  });

  describe('a breaker', () => {
    it('and fair_by: the first by age decides, and then keys take turns', async () => {
      await publish('FairBreaker', ['bf0'], { tenant: 'a' });
      const [first] = await claim('fair_breaker');
      await pairs.outside.send(first!, 'fail', { error_message: 'down', final: true });
      const many = ['bf1', 'bf2', 'bf3', 'bf4', 'bf5'];
      await publish('FairBreaker', many, { tenant: 'a' });
      await publish('FairBreaker', ['bf6'], { tenant: 'b' });
      expect(await pairs.outside.claim({ agents: ['fair_breaker'], max: 10 })).toEqual([]);
      for (const name of [...many, 'bf6']) await waitsFor(name, /^breaker of fair_breaker: open/);
      clock.advance(5 * MINUTE);
      const probe = await claim('fair_breaker');
      expect(namesOf(probe)).toEqual(['bf1']);
      await complete(probe);
      await eventually('nothing waits for the breaker', async () => {
        return (
          (await pairs.board.app.database.rows(`select id from executions where blocked_on is not null`)).length === 0
        );
      });
      const order: string[] = [];
      for (let n = 0; n < 5; n += 1) order.push(...namesOf(await claim('fair_breaker', 1)));
      expect(order.filter((name) => name !== 'bf6')).toEqual(['bf2', 'bf3', 'bf4', 'bf5']);
      // The other key starts at most two before it.
      expect(order.indexOf('bf6')).toBeLessThanOrEqual(2);
    });

    it('and a join: its execution has a key when the join is complete', async () => {
      const join = async (name: string, host: string): Promise<void> => {
        await publish('Left', [name], { host });
        await pairs.board.publish('Right', {}, { correlation: name });
      };
      await join('bj1', 'down');
      await fails('bj1');
      await ends('bj1', 'failed');
      await join('bj2', 'down');
      await join('bj3', 'up');
      await works('bj3');
      await waitsFor('bj2', /^breaker of join_breaker: open, 1st of 1 for down/);
      clock.advance(5 * MINUTE);
      await works('bj2');
    });

    it('and the rows of a batch: they count and wait, and none fails for it', async () => {
      const rows = ['br1', 'br2', 'br3'];
      const batch = await send(
        pairs.board,
        'rows_breaker',
        rows.map((name) => ({ batch: name, n: 1 })),
        { max_workers: 1 },
      );
      await fails('br1');
      await eventually('the next one waits', async () => {
        const found = await pairs.board.app.database.rows(
          `select id from executions where blocked_on like '%rows_breaker%'`,
        );
        return found.length === 1;
      });
      clock.advance(5 * MINUTE);
      for (const name of ['br2', 'br3']) {
        await started(name, 1);
        gatesOf(name)[0]!.open();
      }
      expect(await ended(pairs.board, batch)).toMatchObject({ completed_items: 3, failed_items: 1 });
    });
  });

  it('a breaker and concurrency: what runs when it opens runs on, and then one attempt decides', async () => {
    await publish('Two', ['bc1', 'bc2', 'bc3', 'bc4']);
    await started('bc2', 1);
    expect([...gatesOf('bc3'), ...gatesOf('bc4')]).toEqual([]);
    await fails('bc1');
    await ends('bc1', 'failed');
    for (const name of ['bc3', 'bc4']) await waitsFor(name, /^breaker of two_breaker: open/);
    await fails('bc2');
    await ends('bc2', 'failed');
    clock.advance(5 * MINUTE);
    await started('bc3', 1);
    await waitsFor('bc4', /^breaker of two_breaker: half-open, 1st of 1/);
    expect(gatesOf('bc4')).toEqual([]);
    await works('bc3');
    await works('bc4');
  });

  it('a limit and priority: of those that wait for it, the highest starts first, whatever its agent', async () => {
    await publish('Ranked', ['lp1', 'lp2'], { urgency: 0 });
    await publish('Middle', ['lp3']);
    await publish('Ranked', ['lp4'], { urgency: 5 });
    for (const [place, name] of ['lp4', 'lp3', 'lp2'].entries())
      await waitsFor(name, new RegExp(`^limit counter: 1 of 1 used, ${place + 1}.. of 3$`));
    const names = ['lp1', 'lp4', 'lp3', 'lp2'];
    for (const [index, name] of names.entries()) {
      await started(name, 1);
      expect(names.slice(index + 1).flatMap(gatesOf)).toEqual([]);
      await works(name);
    }
  });

  it('a limit and a replay: its execution takes part with the same key, behind live ones', async () => {
    await publish('Guest', ['lr1'], { room: 'r' });
    await works('lr1');
    await publish('Guest', ['lr2'], { room: 'r' });
    await started('lr2', 1);
    const again = await replay('lr1');
    await waitsFor(again, /^limit room: 1 of 1 used, 1st of 1 for r$/);
    await publish('Guest', ['lr3'], { room: 'r' });
    await waitsFor(again, /^limit room: 1 of 1 used, 2nd of 2 for r$/);
    await works('lr2');
    await started('lr3', 1);
    await waitsFor(again, /^limit room: 1 of 1 used, 1st of 1 for r$/);
    await publish('Guest', ['lr4'], { room: 'r' });
    await works('lr3');
    await works('lr4');
    await started('lr1', 2);
    await publish('Guest', ['lr5'], { room: 'r' });
    await waitsFor('lr5', /^limit room: 1 of 1 used, 1st of 1 for r$/);
    gatesOf('lr1')[1]!.open();
    await ends(again);
    await works('lr5');
  });

  it('a limit and a remote agent that answers later: it counts until its answer 202', async () => {
    const requests: { answer(): void; received: Received }[] = [];
    remote.on('/later/limit', (response, received) => {
      requests.push({ received, answer: () => void response.writeHead(202, { location: '/later' }).end() });
    });
    await publish('Ask', ['la1']);
    await eventually('the agent is asked', () => requests.length === 1);
    await publish('Call', ['la2']);
    await waitsFor('la2', /^limit phone: 1 of 1 used, 1st of 1$/);
    const [{ received, answer }] = requests as [(typeof requests)[0]];
    answer();
    await started('la2', 1);
    expect(await only('la1')).toMatchObject({ state: 'running' });
    const { execution_id } = requestIn(received);
    const held = { execution_id, lease_token: received.headers['starling-lease-token'] as string };
    expect(await pairs.outside.send(held, 'complete', { outputs: [] })).toMatchObject({ status: 200 });
    await ends('la1');
    await works('la2');
  });

  it('a limit and a hidden artifact: it holds nothing, and takes part when it is released', async () => {
    await publishHidden('Guest', 'lh1', { room: 'h' });
    await publish('Guest', ['lh2'], { room: 'h' });
    await started('lh2', 1);
    expect(await executions('lh1')).toEqual([]);
    clock.advance(MINUTE);
    await waitsFor('lh1', /^limit room: 1 of 1 used, 1st of 1 for h$/);
    await works('lh2');
    await works('lh1');
  });

  it('a limit and cache: an execution waits for the limit before it takes an answer', async () => {
    await publish('CachedLimit', ['lc1'], { text: 'known' });
    await works('lc1');
    await publish('Sitter', ['lc2']);
    await started('lc2', 1);
    await publish('CachedLimit', ['lc3'], { text: 'known' });
    await waitsFor('lc3', /^limit seat: 1 of 1 used, 1st of 1$/);
    await works('lc2');
    await ends('lc3');
    expect(await only('lc3')).toMatchObject({ cached_from: (await only('lc1')).id });
    expect(gatesOf('lc3')).toEqual([]);
  });

  it('a breaker and a hidden artifact: it has a key when it is released', async () => {
    await publish('Shown', ['bh1'], { host: 'down' });
    await publishHidden('Shown', 'bh2', { host: 'down' });
    await publishHidden('Shown', 'bh3', { host: 'up' });
    await fails('bh1');
    await ends('bh1', 'failed');
    expect(await executions('bh2')).toEqual([]);
    clock.advance(MINUTE);
    await works('bh3');
    await waitsFor('bh2', /^breaker of shown_breaker: open, 1st of 1 for down/);
    clock.advance(5 * MINUTE);
    await works('bh2');
  });

  describe('cache', () => {
    it('and a pause: the time of the answers passes', async () => {
      await publish('CachedPause', ['cp1'], { text: 'known' });
      await works('cp1');
      const afterPause = async (name: string, ms: number): Promise<void> => {
        await pause('cached_pause');
        await publish('CachedPause', [name], { text: 'known' });
        clock.advance(ms);
        await resume('cached_pause');
      };
      await afterPause('cp2', 4 * MINUTE);
      await ends('cp2');
      expect(await only('cp2')).toMatchObject({ cached_from: (await only('cp1')).id });
      await afterPause('cp3', 7 * MINUTE);
      await works('cp3');
      expect(await only('cp3')).not.toHaveProperty('cached_from', expect.any(String));
    });

    it('and fair_by: an execution that takes an answer uses a turn', async () => {
      await publish('CachedFair', ['cf0'], { tenant: 'a', text: 'known' });
      await works('cf0');
      await pause('cached_fair');
      const many = ['cf1', 'cf2', 'cf3', 'cf4', 'cf5'];
      await publish('CachedFair', many, { tenant: 'a', text: 'known' });
      await publish('CachedFair', ['cf6'], { tenant: 'b', text: 'new' });
      await resume('cached_fair');
      await started('cf6', 1);
      const states = await Promise.all(many.map(async (name) => (await only(name)).state));
      // The other key starts at most two before it.
      expect(states.filter((state) => state !== 'pending').length).toBeLessThanOrEqual(2);
      await works('cf6');
      for (const name of many) await ends(name);
    });

    it('and a batch window: all its artifacts in their order are the key', async () => {
      const window = async (...ns: number[]): Promise<string> => {
        let last = '';
        for (const n of ns) last = await pairs.board.publish('CachedPart', { batch: 'cw', n });
        return last;
      };
      const first = await window(1, 2);
      await started('cw', 1);
      gatesOf('cw')[0]!.open();
      await ends(first);
      const equal = await window(1, 2);
      await ends(equal);
      expect(await only(equal)).toMatchObject({ cached_from: (await only(first)).id });
      const turned = await window(2, 1);
      await started('cw', 2);
      gatesOf('cw')[1]!.open();
      await ends(turned);
    });

    it('and the rows of a batch: they take answers and leave some', async () => {
      const row = async (name: string): Promise<string> =>
        await send(pairs.board, 'cached_rows', [{ batch: name, n: 1, text: 'known' }]);
      const asked = await row('cr1');
      await started('cr1', 1);
      gatesOf('cr1')[0]!.open();
      const { results } = await ended(pairs.board, asked);
      const { id } = await only(results[0]!.run_id);
      const { results: taken } = await ended(pairs.board, await row('cr2'));
      expect(taken).toMatchObject([{ status: 'completed', result: results[0]!.result }]);
      expect(await only(taken[0]!.run_id)).toMatchObject({ cached_from: id });
      await publish('CachedRow', ['cr3'], { text: 'known' });
      await ends('cr3');
      expect(await only('cr3')).toMatchObject({ cached_from: id });
      expect([...gatesOf('cr2'), ...gatesOf('cr3')]).toEqual([]);
    });

    it('and cancel_on: what is cancelled leaves no answer', async () => {
      await publish('CachedOff', ['co1'], { order: 'co', text: 'known' });
      await started('co1', 1);
      await callOff('co');
      await ends('co1');
      expect(await only('co1')).toMatchObject({ state: 'cancelled' });
      await publish('CachedOff', ['co2'], { order: 'other', text: 'known' });
      await works('co2');
      await publish('CachedOff', ['co3'], { order: 'co', text: 'known' });
      await ends('co3');
      expect(await only('co3')).toMatchObject({ state: 'completed', cached_from: (await only('co2')).id });
    });

    it('and variants: each takes its own answers', async () => {
      const names = Array.from({ length: 12 }, (_, n) => `cv${n}`);
      for (const name of names) {
        await publish('Varied', [name], { text: 'known' });
        await ends(name);
      }
      const all = await Promise.all(names.map(only));
      for (const variant of ['base', 'other']) {
        const [asked, ...others] = all.filter((each) => each.variant === variant);
        expect(asked).toBeDefined();
        expect(others.map(({ cached_from: from }) => from)).toEqual(others.map(() => asked!.id));
      }
    });
  });

  it('fair_by and retries: each attempt uses a turn', async () => {
    await publish('FairRetry', ['fr1'], { tenant: 'a' });
    await publish('FairRetry', ['fr2'], { tenant: 'b' });
    const order: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      const [held] = await claim('fair_retry', 1);
      order.push(held!.correlation_id);
      if (held!.correlation_id === 'fr1') await pairs.outside.send(held!, 'fail', { error_message: 'again' });
      else await complete([held!]);
    }
    expect(order.filter((name) => name === 'fr2')).toEqual(['fr2']);
    // The other key starts at most two before it.
    expect(order.indexOf('fr2')).toBeLessThanOrEqual(2);
  });

  it('fair_by and a remote agent that answers later: the request uses a turn, and the later answer none', async () => {
    await pause('fair_remote');
    await publish('FairRemote', ['fm1', 'fm2', 'fm3'], { tenant: 'a' });
    await publish('FairRemote', ['fm4', 'fm5', 'fm6'], { tenant: 'b' });
    await resume('fair_remote');
    const order: string[] = [];
    for (let n = 0; n < 6; n += 1) {
      await eventually('the agent is asked', () => remote.at('/later').length === n + 1);
      const received = remote.at('/later')[n]!;
      const { execution_id, correlation_id } = requestIn(received);
      order.push(correlation_id);
      await eventually(
        'it answers later',
        async () => (await pairs.outside.execution(execution_id)).lease_until !== null,
      );
      const held = { execution_id, lease_token: received.headers['starling-lease-token'] as string };
      expect(await pairs.outside.send(held, 'complete', { outputs: [] })).toMatchObject({ status: 200 });
    }
    const tenants = order.map((name) => (['fm1', 'fm2', 'fm3'].includes(name) ? 'a' : 'b')).join('');
    expect([...order].sort()).toEqual(['fm1', 'fm2', 'fm3', 'fm4', 'fm5', 'fm6']);
    // Between two starts of one key, the other one starts at most two, while both wait.
    expect(tenants).not.toMatch(/aaa|bbb/);
  });

  describe('cancel_on', () => {
    it('and a run and the rows of a batch: they complete without outputs', async () => {
      const run = (
        await pairs.board.http
          .post('/run/flock')
          .send({ agent_name: 'off_rows', inputs: { order: 'or' }, async_run: true })
          .expect(200)
      ).body as { run_id: string };
      const batch = await send(pairs.board, 'off_rows', [{ order: 'or' }, { order: 'or' }]);
      await eventually('all wait', async () => {
        const { body } = await pairs.board.http.get('/api/v1/executions').query({ agent: 'off_rows' }).expect(200);
        return (body as { items: Execution[] }).items.length === 3;
      });
      const off = await callOff('or');
      expect(await only(run.run_id)).toMatchObject({ state: 'cancelled', cancelled_by: off });
      await eventually('the run has ended', async () => {
        const { body } = await pairs.board.http.get(`/run/${run.run_id}`).expect(200);
        return (body as { status: string }).status === 'completed';
      });
      expect(await ended(pairs.board, batch)).toMatchObject({ completed_items: 2, failed_items: 0 });
    });

    it('and a pause: executions of a paused agent are cancelled', async () => {
      await pause('off_rows');
      await publish('OffRow', ['op1'], { order: 'op' });
      const off = await callOff('op');
      expect(await only('op1')).toMatchObject({ state: 'cancelled', cancelled_by: off });
      await resume('off_rows');
    });

    it('and a retry by hand: a later artifact cancels the execution, and an earlier one does not', async () => {
      await publish('OffRow', ['oh1'], { order: 'oh' });
      const [held] = await claim('off_rows');
      await pairs.outside.send(held!, 'fail', { error_message: 'no', final: true });
      await ends('oh1', 'failed');
      await callOff('oh');
      const { id, state } = await only('oh1');
      expect(state).toBe('failed');
      await pairs.board.http.post(`/api/v1/executions/${id}/retry`).expect(200);
      expect(await only('oh1')).toMatchObject({ state: 'pending' });
      const off = await callOff('oh');
      expect(await only('oh1')).toMatchObject({ state: 'cancelled', cancelled_by: off });
    });
  });

  it('a schedule and a limit: a tick whose execution waits for the limit still overlaps', async () => {
    const ticks = async (): Promise<string[]> => {
      const { body } = await pairs.board.http.get('/api/v1/schedules/each/ticks').expect(200);
      return (body as { ticks: { state: string }[] }).ticks.map(({ state }) => state).sort();
    };
    const ticksAre = (...states: string[]) =>
      eventually(`the ticks are ${states}`, async () => (await ticks()).join() === states.join());
    await publish('Ticked', ['tk1']);
    const held = await claim('ticked');
    const options = { every: '1m', overlap: 'skip', publishes: { type: 'Ticked' } };
    await pairs.board.http.post('/api/v1/schedules').send({ name: 'each', options }).expect(200);
    clock.advance(MINUTE);
    await ticksAre('published');
    await eventually('its execution waits for the limit', async () => {
      expect(await pairs.outside.claim({ agents: ['ticked'] })).toEqual([]);
      const { body } = await pairs.board.http.get('/api/v1/limits/line').expect(200);
      return (body as { waiting: number }).waiting === 1;
    });
    clock.advance(MINUTE);
    await ticksAre('published', 'skipped');
    await complete(held);
    await complete(await claim('ticked'));
    clock.advance(MINUTE);
    await ticksAre('published', 'published', 'skipped');
    await pairs.board.http.delete('/api/v1/schedules/each').expect(200);
    await complete(await claim('ticked'));
  });

  it('fair_by and a limit: what waits for the limit starts by age', async () => {
    await publish('FairLimit', ['fl1', 'fl2', 'fl3'], { tenant: 'a' });
    await publish('FairLimit', ['fl4'], { tenant: 'b' });
    const order: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      const held = await claim('fair_limit');
      order.push(...namesOf(held));
      if (n === 0) for (const name of ['fl2', 'fl3', 'fl4']) await waitsFor(name, /^limit desk: 1 of 1 used/);
      await complete(held);
    }
    expect(order).toEqual(['fl1', 'fl2', 'fl3', 'fl4']);
  });
});
