// Batch windows by a key and debounce together with rules that their executions follow. Uses the whole app over HTTP on a
// database. The clock is faked.
import { eventually } from '../support/eventually.js';
import { gatesOf, started } from './batch-board.js';
import type { Held } from './outside.js';
import { EXTERNAL, GATED, MINUTE, namesOf, ONCE, PairsBoard, RETRY, TWICE } from './pairs-board.js';

const window = (type: string, more = ''): string =>
  `consumes: [{ types: [${type}], batch: { size: 2, timeout: 1h, key: payload.shop }${more} }]`;
const last = (type: string, more = ''): string =>
  `consumes: [{ types: [${type}], debounce: { key: payload.document, wait: 1m, at_most: 5m }${more} }]`;

/** That of one of the artifacts of an execution, or of the artifact that cancels. */
const calledOff = (payload: string): string =>
  `cancel_on: { types: [Off], key: 'size(inputs) > 1 ? ${payload}.order : artifact.payload.order' }`;

const CONFIG = `
limits:
  parcels: { rate: 1/m, key: 'payload[0].shop' }
agents:
  again: { ${window('Again')}, ${TWICE}, ${EXTERNAL} }
  paused: { ${window('Paused')}, ${EXTERNAL} }
  shown: { ${window('Shown')}, ${EXTERNAL} }
  cached: { ${window('Cached')}, cache: { for: 5h, key: 'payload[0].shop' }, ${GATED} }
  ranked: { ${window('Ranked', ", priority: 'payload[0].urgency'")}, ${EXTERNAL} }
  paced: { ${window('Paced')}, limits: [parcels], ${GATED} }
  broken: { ${window('Broken')}, breaker: { failures: 50%, of: 2, open: 5m, key: 'payload[0].shop' }, ${ONCE}, ${GATED} }
  called_off: { ${window('CalledOff')}, ${calledOff('payload[1]')}, ${EXTERNAL} }
  joined_off: { consumes: [{ types: [Left, Right] }], ${calledOff('payload.Right')}, ${EXTERNAL} }
  replayed: { ${window('Replayed')}, publishes: [{ type: Packed }], engine: { kind: expression, expression: "{ 'ns': payload.map(one, one.n) }" } }
  last_again: { ${last('LastAgain')}, ${TWICE}, ${EXTERNAL} }
  last_turn: { ${last('LastTurn')}, singleton: { key: payload.order, on_conflict: queue }, ${EXTERNAL} }
  last_ranked: { ${last('LastRanked', ', priority: payload.urgency')}, ${EXTERNAL} }
`;

describe('together go', () => {
  const pairs = new PairsBoard();
  const { clock, publish, publishHidden, executions, only, areQueued, ends, fails, waitsFor, callOff } = pairs;
  const { pause, resume, claim, claimInOrder, complete, replay } = pairs;

  beforeAll(() => pairs.start(CONFIG));
  afterAll(() => pairs.close());

  const claimOne = async (agent: string): Promise<Held> => (await claim(agent, 1))[0]!;

  /** The names of its artifacts, in the order in which the agent sees them. */
  const inputsOf = ({ inputs }: Held): unknown[] => inputs.map(({ payload }) => payload.batch);

  const fail = async (held: Held): Promise<void> => {
    expect((await pairs.outside.send(held, 'fail', { error_message: 'again' })).status).toBe(200);
  };

  const gathers = async (name: string): Promise<void> => {
    await eventually(`${name} is in a window`, async () => {
      const { body } = await pairs.board.http.get(`/api/v1/correlations/${name}/waiting`).expect(200);
      return (body as { items: { kind: string }[] }).items[0]?.kind === 'window';
    });
    expect(await executions(name)).toEqual([]);
  };

  // The execution of a window belongs to the correlation of its last artifact.
  describe('a batch window by a key', () => {
    it('and retries: they repeat its list, while later artifacts gather in the next one', async () => {
      await publish('Again', ['wr1', 'wr2'], { shop: 'a' });
      await fail(await claimOne('again'));
      await publish('Again', ['wr3'], { shop: 'a' });
      await gathers('wr3');
      clock.advance(RETRY);
      const held = await claimOne('again');
      expect(held).toMatchObject({ correlation_id: 'wr2', attempt: 2 });
      expect(inputsOf(held)).toEqual(['wr1', 'wr2']);
      await complete([held]);
      await publish('Again', ['wr4'], { shop: 'a' });
      const next = await claimOne('again');
      expect(inputsOf(next)).toEqual(['wr3', 'wr4']);
      await complete([next]);
    });

    it('and a pause: windows fill and end by time, and their executions wait', async () => {
      await pause('paused');
      await publish('Paused', ['wp1', 'wp2'], { shop: 'a' });
      await publish('Paused', ['wp3'], { shop: 'b' });
      await areQueued('wp2');
      await gathers('wp3');
      clock.advance(60 * MINUTE);
      await areQueued('wp3');
      expect(await pairs.outside.claim({ agents: ['paused'] })).toEqual([]);
      await resume('paused');
      const held = [await claimOne('paused'), await claimOne('paused')];
      expect(held.map(inputsOf)).toEqual([['wp1', 'wp2'], ['wp3']]);
      await complete(held);
    });

    it('and a hidden artifact: it gathers when it is released', async () => {
      await publishHidden('Shown', 'wh1', { shop: 'a' });
      await publish('Shown', ['wh2'], { shop: 'a' });
      await gathers('wh2');
      clock.advance(MINUTE);
      const held = await claimOne('shown');
      expect(inputsOf(held)).toEqual(['wh2', 'wh1']);
      await complete([held]);
    });

    it('and cache: its one execution takes the answer of an earlier list with its key', async () => {
      await publish('Cached', ['wc1', 'wc2'], { shop: 'a' });
      await started('wc1', 1);
      gatesOf('wc1')[0]!.open();
      await ends('wc2');
      await publish('Cached', ['wc3', 'wc4'], { shop: 'a' });
      await ends('wc4');
      expect(await only('wc4')).toMatchObject({ cached_from: (await only('wc2')).id });
      await publish('Cached', ['wc5', 'wc6'], { shop: 'b' });
      await started('wc5', 1);
      gatesOf('wc5')[0]!.open();
      await ends('wc6');
      expect(gatesOf('wc3')).toEqual([]);
    });

    it('and priority: it sees the list when the window has closed', async () => {
      for (const [n, urgency] of [0, 5, 3].entries())
        await publish('Ranked', [`wq${2 * n + 1}`, `wq${2 * n + 2}`], { shop: `s${n}`, urgency });
      await areQueued('wq2', 'wq4', 'wq6');
      expect(await claimInOrder('ranked', 3)).toEqual(['wq4', 'wq6', 'wq2']);
    });

    it('and a rate: it counts once, and waits for its key alone', async () => {
      await publish('Paced', ['wl1', 'wl2', 'wl3', 'wl4'], { shop: 'a' });
      await started('wl1', 1);
      gatesOf('wl1')[0]!.open();
      await ends('wl2');
      await waitsFor('wl4', /^limit parcels: 1 of 1 used, 1st of 1 for shop a, next in 60\.0 s$/);
      await publish('Paced', ['wl5', 'wl6'], { shop: 'b' });
      await started('wl5', 1);
      gatesOf('wl5')[0]!.open();
      await ends('wl6');
      expect(gatesOf('wl3')).toEqual([]);
      clock.advance(MINUTE);
      await started('wl3', 1);
      gatesOf('wl3')[0]!.open();
      await ends('wl4');
    });

    it('and a breaker: it holds for the key of the list', async () => {
      await publish('Broken', ['wb1', 'wb2'], { shop: 'a' });
      await fails('wb1');
      await ends('wb2', 'failed');
      await publish('Broken', ['wb3', 'wb4'], { shop: 'a' });
      await waitsFor('wb4', /^breaker of broken: open, 1st of 1 for shop a/);
      await publish('Broken', ['wb5', 'wb6'], { shop: 'b' });
      await started('wb5', 1);
      gatesOf('wb5')[0]!.open();
      await ends('wb6');
      expect(gatesOf('wb3')).toEqual([]);
      clock.advance(5 * MINUTE);
      await started('wb3', 1);
      gatesOf('wb3')[0]!.open();
      await ends('wb4');
    });

    it.each([
      ['it, whose key sees the list', 'wo', 'CalledOff', 'CalledOff'],
      ['a join, whose key sees its artifacts', 'wj', 'Left', 'Right'],
    ])('and cancel_on: it keeps what has come to %s, until its execution is queued', async (_, name, first, second) => {
      await publish(first, [name], { shop: 'a', order: `${name}1` });
      for (const order of [`${name}1`, `${name}2`]) await callOff(order);
      await publish(second, [name], { shop: 'a', order: `${name}2` });
      await areQueued(name);
      await callOff(`${name}1`);
      expect(await only(name)).toMatchObject({ state: 'pending' });
      const off = await callOff(`${name}2`);
      expect(await only(name)).toMatchObject({ state: 'cancelled', cancelled_by: off });
      await ends(name);
    });

    it('and a replay: it has separate windows for each key, or those of the record', async () => {
      const packed = async (name: string): Promise<unknown[]> =>
        (await pairs.board.artifacts(name, { type: 'Packed' })).map(({ payload }) => payload.ns);
      for (const [shop, n] of [
        ['a', 1],
        ['b', 2],
        ['a', 3],
      ] as const)
        await publish('Replayed', ['wy1'], { shop, n });
      clock.advance(60 * MINUTE);
      await ends('wy1');
      await publish('Replayed', ['wy2'], { shop: 'b', n: 4 });
      const recorded = await replay('wy1', 'recorded');
      await ends(recorded);
      expect(await packed(recorded)).toEqual([[1, 3], [2]]);
      const again = await replay('wy1');
      await eventually('the window of the other key waits', async () => (await packed(again)).length === 1);
      expect((await pairs.board.status(again)).state).toBe('active');
      clock.advance(60 * MINUTE);
      await ends(again);
      expect(await packed(again)).toEqual([[1, 3], [2]]);
      await ends('wy2');
      expect(await packed('wy2')).toEqual([[4]]);
    });
  });

  describe('debounce', () => {
    it('and retries: they repeat its artifact, while a later one waits in the next window', async () => {
      await publish('LastAgain', ['dr1'], { document: 'd' });
      clock.advance(MINUTE);
      await fail(await claimOne('last_again'));
      await publish('LastAgain', ['dr2'], { document: 'd' });
      await gathers('dr2');
      clock.advance(RETRY);
      await areQueued('dr2');
      const held = [await claimOne('last_again'), await claimOne('last_again')];
      expect(held.map(inputsOf).sort()).toEqual([['dr1'], ['dr2']]);
      expect(held.find(({ correlation_id: name }) => name === 'dr1')).toMatchObject({ attempt: 2 });
      await complete(held);
      for (const name of ['dr1', 'dr2']) await ends(name);
    });

    it('and singleton: the key is that of the last artifact, when its window has ended', async () => {
      await publish('LastTurn', ['dt1'], { document: 'd', order: 'A' });
      clock.advance(MINUTE);
      const first = await claimOne('last_turn');
      await publish('LastTurn', ['dt2'], { document: 'e', order: 'B' });
      await publish('LastTurn', ['dt3'], { document: 'e', order: 'A' });
      await publish('LastTurn', ['dt4'], { document: 'f', order: 'A' });
      await publish('LastTurn', ['dt5'], { document: 'f', order: 'B' });
      clock.advance(MINUTE);
      const second = await claimOne('last_turn');
      await waitsFor('dt3', /^singleton of last_turn: 1 of 1 used, 1st of 1 for order A$/);
      await complete([first]);
      const third = await claimOne('last_turn');
      expect(namesOf([first, second, third])).toEqual(['dt1', 'dt5', 'dt3']);
      await complete([second, third]);
    });

    it('and priority: it is that of the last artifact', async () => {
      await publish('LastRanked', ['dp1'], { document: 'd', urgency: 5 });
      await publish('LastRanked', ['dp2'], { document: 'd', urgency: 0 });
      await publish('LastRanked', ['dp3'], { document: 'e', urgency: 1 });
      clock.advance(MINUTE);
      await areQueued('dp2', 'dp3');
      const held = [await claimOne('last_ranked'), await claimOne('last_ranked')];
      expect(namesOf(held)).toEqual(['dp3', 'dp2']);
      await complete(held);
    });
  });
});
