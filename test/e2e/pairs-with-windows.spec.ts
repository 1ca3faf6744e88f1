// Batch windows by a key and debounce together with rules that their executions follow. Uses the whole app over HTTP on a
// database. The clock is faked.
import { eventually } from '../support/eventually.js';
import { gatesOf, started } from './batch-board.js';
import type { Held } from './outside.js';
import { EXTERNAL, GATED, MINUTE, namesOf, PairsBoard, RETRY, TWICE } from './pairs-board.js';

const window = (type: string, more = ''): string =>
  `consumes: [{ types: [${type}], batch: { size: 2, timeout: 1h, key: payload.shop }${more} }]`;
const last = (type: string, more = ''): string =>
  `consumes: [{ types: [${type}], debounce: { key: payload.document, wait: 1m, at_most: 5m }${more} }]`;

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
  last_again: { ${last('LastAgain')}, ${TWICE}, ${EXTERNAL} }
  last_ranked: { ${last('LastRanked', ', priority: payload.urgency')}, ${EXTERNAL} }
`;

describe('together go', () => {
  const pairs = new PairsBoard();
  const { clock, publish, publishHidden, executions, only, areQueued, ends, waitsFor } = pairs;
  const { pause, resume, claim, claimInOrder, complete } = pairs;

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
