// Debounce or a breaker together with another rule. Uses the whole app over HTTP on a database. The clock is faked.
import { eventually } from '../support/eventually.js';
import { ended, gatesOf, send, started } from './batch-board.js';
import { EXTERNAL, GATED, MINUTE, namesOf, ONCE, PairsBoard } from './pairs-board.js';

/** One failure opens it. */
const breaker = (key = "''"): string => `breaker: { failures: 50%, of: 2, open: 5m, key: "${key}" }`;
const DEBOUNCE = 'debounce: { key: payload.document, wait: 1m, at_most: 5m }';
const CALLED_OFF = 'cancel_on: { types: [Off], key: payload.order }';

const CONFIG = `
limits:
  room: { concurrency: 1, key: payload.room }
agents:
  last_limit: { consumes: [{ types: [LastLimit], ${DEBOUNCE} }], limits: [room], ${GATED} }
  guest: { consumes: [{ types: [Guest] }], limits: [room], ${GATED} }
  last_breaker: { consumes: [{ types: [LastBreaker], ${DEBOUNCE} }], ${breaker('payload.host')}, ${ONCE}, ${GATED} }
  last_cache: { consumes: [{ types: [LastCache], ${DEBOUNCE} }], cache: { for: 5h, key: payload.text }, ${GATED} }
  last_place: { consumes: [{ types: [LastPlace], ${DEBOUNCE} }, { types: [Sudden] }], concurrency: 1, ${GATED} }
  last_fair: { consumes: [{ types: [LastFair], ${DEBOUNCE} }], fair_by: payload.tenant, ${EXTERNAL} }
  last_off: { consumes: [{ types: [LastOff], ${DEBOUNCE} }], ${CALLED_OFF}, ${EXTERNAL} }
  fair_breaker: { consumes: [{ types: [FairBreaker] }], fair_by: payload.tenant, ${breaker()}, ${ONCE}, ${EXTERNAL} }
  join_breaker: { consumes: [{ types: [Left, Right] }], ${breaker('payload.Left.host')}, ${ONCE}, ${GATED} }
  rows_breaker: { consumes: [{ types: [Row] }], ${breaker()}, ${ONCE}, ${GATED} }
  run_breaker: { consumes: [{ types: [Asked] }], ${breaker()}, ${ONCE}, ${GATED} }
  shown_breaker: { consumes: [{ types: [Shown] }], ${breaker('payload.host')}, ${ONCE}, ${GATED} }
  two_breaker: { consumes: [{ types: [Two] }], ${breaker('payload.host')}, concurrency: 2, ${ONCE}, ${GATED} }
`;

describe('together go', () => {
  const pairs = new PairsBoard();
  const { clock, publish, publishHidden, executions, only, areQueued, ends, fails, works, waitsFor } = pairs;
  const { waitsAs, callOff, claim, complete } = pairs;

  beforeAll(() => pairs.start(CONFIG));
  afterAll(() => pairs.close());

  describe('debounce', () => {
    it('and a limit: an artifact in a window holds nothing, and the key is that of the last one', async () => {
      await publish('LastLimit', ['dl1'], { document: 'd', room: 'a' });
      await publish('LastLimit', ['dl2'], { document: 'd', room: 'b' });
      await publish('Guest', ['dl3'], { room: 'a' });
      await publish('Guest', ['dl4'], { room: 'b' });
      await started('dl3', 1);
      await started('dl4', 1);
      clock.advance(MINUTE);
      await waitsFor('dl2', /^limit room: 1 of 1 used, 1st of 1 for room b$/);
      await works('dl4');
      await works('dl2');
      await works('dl3');
      expect(gatesOf('dl1')).toEqual([]);
    });

    it('and concurrency: an artifact in a window uses no place', async () => {
      await publish('LastPlace', ['dp1'], { document: 'd' });
      await publish('Sudden', ['dp2']);
      await started('dp2', 1);
      clock.advance(MINUTE);
      await waitsAs('dp1', 'concurrency');
      expect(gatesOf('dp1')).toEqual([]);
      await works('dp2');
      await works('dp1');
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
      await waitsFor('db3', /^breaker of last_breaker: open, 1st of 1 for host down/);
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
      await publish('LastOff', ['do0'], { document: 'd', order: 'earlier' });
      await publish('LastOff', ['do1'], { document: 'd', order: 'do' });
      await callOff('do');
      clock.advance(MINUTE);
      await eventually('its execution waits', async () => (await executions('do1')).length === 1);
      await callOff('earlier');
      expect(await only('do1')).toMatchObject({ state: 'pending' });
      const off = await callOff('do');
      expect(await only('do1')).toMatchObject({ state: 'cancelled', cancelled_by: off });
      await ends('do1');
    });
  });

  describe('a breaker', () => {
    it('and fair_by: the key whose turn it is decides, and then all take turns', async () => {
      await publish('FairBreaker', ['bf0'], { tenant: 'a' });
      const [first] = await claim('fair_breaker');
      await pairs.outside.send(first!, 'fail', { error_message: 'down', final: true });
      const many = ['bf1', 'bf2', 'bf3', 'bf4', 'bf5'];
      await publish('FairBreaker', many, { tenant: 'a' });
      await publish('FairBreaker', ['bf6'], { tenant: 'b' });
      expect(await pairs.outside.claim({ agents: ['fair_breaker'], max: 10 })).toEqual([]);
      for (const name of [...many, 'bf6']) await waitsFor(name, /^breaker of fair_breaker: open/);
      // By age, two of one key would decide.
      clock.advance(5 * MINUTE);
      const failing = await claim('fair_breaker');
      expect(namesOf(failing)).toEqual(['bf1']);
      await pairs.outside.send(failing[0]!, 'fail', { error_message: 'down', final: true });
      await publish('FairBreaker', ['bf7'], { tenant: 'b' });
      await waitsFor('bf7', /^breaker of fair_breaker: open/);
      clock.advance(5 * MINUTE);
      const probe = await claim('fair_breaker');
      expect(namesOf(probe)).toEqual(['bf6']);
      await complete(probe);
      await eventually('nothing waits for the breaker', async () => {
        return (
          (await pairs.board.app.database.rows(`select id from executions where blocked_on is not null`)).length === 0
        );
      });
      const order: string[] = [];
      for (let n = 0; n < 5; n += 1) order.push(...namesOf(await claim('fair_breaker', 1)));
      expect(order.filter((name) => name !== 'bf7')).toEqual(['bf2', 'bf3', 'bf4', 'bf5']);
      // The other key starts at most two before it.
      expect(order.indexOf('bf7')).toBeLessThanOrEqual(2);
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
      await waitsFor('bj2', /^breaker of join_breaker: open, 1st of 1 for Left.host down/);
      clock.advance(5 * MINUTE);
      await works('bj2');
    });

    it('and a run and a direct run: they count and wait', async () => {
      const { http } = pairs.board;
      const run = (name: string) =>
        http.post('/run/flock').send({ agent_name: 'run_breaker', inputs: { batch: name, n: 1 } });
      const failed = run('ba1').then(({ body }) => body as object);
      await fails('ba1');
      expect(await failed).toMatchObject({ status: 'failed' });
      const waiting = run('ba2').then(({ body }) => body as object);
      const direct = http
        .post('/api/v1/agents/run_breaker/run')
        .send({ inputs: [{ type: 'Asked', payload: { batch: 'ba3', n: 1 } }] })
        .then(({ status }) => status);
      await eventually('both wait', async () => {
        const sql = `select id from executions where blocked_on like '%run_breaker%'`;
        return (await pairs.board.app.database.rows(sql)).length === 2;
      });
      expect([...gatesOf('ba2'), ...gatesOf('ba3')]).toEqual([]);
      clock.advance(5 * MINUTE);
      await started('ba2', 1);
      gatesOf('ba2')[0]!.open();
      await started('ba3', 1);
      gatesOf('ba3')[0]!.open();
      expect(await waiting).toMatchObject({ status: 'completed' });
      expect(await direct).toBe(200);
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

  it('a breaker and concurrency: what runs when it opens runs on, what waits uses no place, and one attempt decides', async () => {
    await publish('Two', ['bc1', 'bc2', 'bc3', 'bc4'], { host: 'down' });
    await started('bc2', 1);
    expect([...gatesOf('bc3'), ...gatesOf('bc4')]).toEqual([]);
    await fails('bc1');
    await ends('bc1', 'failed');
    for (const name of ['bc3', 'bc4']) await waitsFor(name, /^breaker of two_breaker: open/);
    await fails('bc2');
    await ends('bc2', 'failed');
    await publish('Two', ['bc5', 'bc6', 'bc7'], { host: 'up' });
    await started('bc5', 1);
    await started('bc6', 1);
    await waitsAs('bc7', 'concurrency');
    for (const name of ['bc5', 'bc6', 'bc7']) await works(name);
    clock.advance(5 * MINUTE);
    await started('bc3', 1);
    await waitsFor('bc4', /^breaker of two_breaker: half-open, 1st of 1/);
    expect(gatesOf('bc4')).toEqual([]);
    await works('bc3');
    await works('bc4');
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
    await waitsFor('bh2', /^breaker of shown_breaker: open, 1st of 1 for host down/);
    clock.advance(5 * MINUTE);
    await works('bh2');
  });
});
