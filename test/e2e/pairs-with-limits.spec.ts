// Pairs of rules of which one is a limit. Uses the whole app over HTTP on a database. The clock is faked.
import { eventually } from '../support/eventually.js';
import { type Received, Receiver } from '../support/receiver.js';
import { requestIn } from '../support/remote-agent.js';
import { ended, gatesOf, send, started } from './batch-board.js';
import { type Execution, EXTERNAL, GATED, MINUTE, namesOf, PairsBoard, RETRY, TWICE } from './pairs-board.js';

/** One failure opens it. */
const breaker = (key = "''"): string => `breaker: { failures: 50%, of: 2, open: 5m, key: "${key}" }`;
const CALLED_OFF = 'cancel_on: { types: [Off], key: payload.order }';

const configuration = (remote: string): string => `
limits:
  held_breaker: { concurrency: 1, hold: true }
  held_turn: { concurrency: 1, hold: true }
  held_rows: { concurrency: 1, hold: true }
  held_pause: { concurrency: 1, hold: true }
  held_off: { concurrency: 1, hold: true }
  room: { concurrency: 1, key: payload.room }
  seat: { concurrency: 1 }
  line: { concurrency: 1 }
  counter: { concurrency: 1 }
  phone: { concurrency: 1 }
  desk: { concurrency: 1 }
  counters: { concurrency: 2 }
  pace: { rate: 1/m }
  again: { concurrency: 1 }
agents:
  held_breaker: { consumes: [{ types: [HeldBreaker] }], limits: [held_breaker], ${breaker()}, ${TWICE}, ${GATED} }
  held_turn: { consumes: [{ types: [HeldTurn] }], limits: [held_turn], singleton: { key: payload.order, on_conflict: queue }, ${TWICE}, ${GATED} }
  held_rows: { consumes: [{ types: [HeldRow] }], limits: [held_rows], ${TWICE}, ${GATED} }
  held_pause: { consumes: [{ types: [HeldPause] }], limits: [held_pause], ${TWICE}, ${GATED} }
  beside_pause: { consumes: [{ types: [BesidePause] }], limits: [held_pause], ${GATED} }
  held_off: { consumes: [{ types: [HeldOff] }], limits: [held_off], ${CALLED_OFF}, ${TWICE}, ${GATED} }
  guest: { consumes: [{ types: [Guest] }], limits: [room], ${GATED} }
  cached_limit: { consumes: [{ types: [CachedLimit] }], limits: [seat], cache: { for: 5h, key: payload.text }, ${GATED} }
  turned_limit: { consumes: [{ types: [TurnedLimit] }], limits: [counters], singleton: { key: payload.order, on_conflict: queue }, ${GATED} }
  beside_turn: { consumes: [{ types: [BesideTurn] }], limits: [counters], ${GATED} }
  cached_rate: { consumes: [{ types: [CachedRate] }], limits: [pace], cache: { for: 5h, key: payload.text }, ${GATED} }
  again_limit: { consumes: [{ types: [AgainLimit] }], limits: [again], ${TWICE}, ${GATED} }
  sitter: { consumes: [{ types: [Sitter] }], limits: [seat], ${GATED} }
  ticked: { consumes: [{ types: [Ticked] }], limits: [line], timeout: 50h, ${EXTERNAL} }
  ranked_limit: { consumes: [{ types: [Ranked], priority: payload.urgency }], limits: [counter], ${GATED} }
  middle_limit: { consumes: [{ types: [Middle], priority: 3 }], limits: [counter], ${GATED} }
  later_limit: { consumes: [{ types: [Ask] }], publishes: [{ type: Ended }], limits: [phone], engine: { kind: http, url: "${remote}/limit" } }
  caller: { consumes: [{ types: [Call] }], limits: [phone], ${GATED} }
  fair_limit: { consumes: [{ types: [FairLimit] }], fair_by: payload.tenant, limits: [desk], ${EXTERNAL} }
`;

describe('together go', () => {
  const pairs = new PairsBoard();
  const { clock, publish, publishHidden, executions, only, ends, failsOnce, works, waitsFor, callOff, pause } = pairs;
  const { resume, claim, complete, replay } = pairs;
  let remote: Receiver;

  beforeAll(async () => {
    remote = await Receiver.start();
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
      await waitsFor('ht2', /^singleton of held_turn: 1 of 1 used, 1st of 1 for order A$/);
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
    await waitsFor(again, /^limit room: 1 of 1 used, 1st of 1 for room r$/);
    await publish('Guest', ['lr3'], { room: 'r' });
    await waitsFor(again, /^limit room: 1 of 1 used, 2nd of 2 for room r$/);
    await works('lr2');
    await started('lr3', 1);
    await waitsFor(again, /^limit room: 1 of 1 used, 1st of 1 for room r$/);
    await publish('Guest', ['lr4'], { room: 'r' });
    await works('lr3');
    await works('lr4');
    await started('lr1', 2);
    await publish('Guest', ['lr5'], { room: 'r' });
    await waitsFor('lr5', /^limit room: 1 of 1 used, 1st of 1 for room r$/);
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
    await waitsFor('lh1', /^limit room: 1 of 1 used, 1st of 1 for room h$/);
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

  it('a rate and cache: an execution that takes an answer counts', async () => {
    await publish('CachedRate', ['lq1'], { text: 'known' });
    await works('lq1');
    await publish('CachedRate', ['lq2'], { text: 'known' });
    await publish('CachedRate', ['lq3'], { text: 'new' });
    await waitsFor('lq2', /^limit pace: 1 of 1 used, 1st of 2, next in 60\.0 s$/);
    clock.advance(MINUTE);
    await ends('lq2');
    expect(await only('lq2')).toMatchObject({ cached_from: (await only('lq1')).id });
    await waitsFor('lq3', /^limit pace: 1 of 1 used, 1st of 1, next in 60\.0 s$/);
    expect(gatesOf('lq3')).toEqual([]);
    clock.advance(MINUTE);
    await works('lq3');
  });

  it('a limit and singleton: what waits for its turn holds no limit', async () => {
    await publish('TurnedLimit', ['lt1', 'lt2'], { order: 'A' });
    await started('lt1', 1);
    await waitsFor('lt2', /^singleton of turned_limit: 1 of 1 used, 1st of 1 for order A$/);
    await publish('BesideTurn', ['lt3']);
    await started('lt3', 1);
    for (const name of ['lt1', 'lt2', 'lt3']) await works(name);
  });

  it('a limit and retries: the next attempt keeps its place in the line', async () => {
    await publish('AgainLimit', ['lb1']);
    await failsOnce('lb1');
    await publish('AgainLimit', ['lb2', 'lb3']);
    await waitsFor('lb3', /^limit again: 1 of 1 used, 1st of 1$/);
    clock.advance(RETRY);
    await waitsFor('lb1', /^limit again: 1 of 1 used, 1st of 2$/);
    await works('lb2');
    await started('lb1', 2);
    expect(gatesOf('lb3')).toEqual([]);
    await works('lb1', 2);
    await works('lb3');
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

  it('fair_by and a limit: what waits for the limit takes turns', async () => {
    const many = ['fl1', 'fl2', 'fl3', 'fl4', 'fl5', 'fl6'];
    await publish('FairLimit', many, { tenant: 'a' });
    await publish('FairLimit', ['fl7'], { tenant: 'b' });
    const order: string[] = [];
    for (let n = 0; n < 7; n += 1) {
      const held = await claim('fair_limit');
      order.push(...namesOf(held));
      if (n === 0) for (const name of [...many.slice(1), 'fl7']) await waitsFor(name, /^limit desk: 1 of 1 used/);
      await complete(held);
    }
    expect(order.filter((name) => name !== 'fl7')).toEqual(many);
    // The first one did not wait. Then one key starts at most three executions before another one.
    expect(order.indexOf('fl7')).toBeLessThanOrEqual(4);
  });
});
