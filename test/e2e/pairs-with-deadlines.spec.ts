// Pairs of rules of which one is a deadline. Uses the whole app over HTTP on a database. The clock is faked.
import { eventually } from '../support/eventually.js';
import { gatesOf, started } from './batch-board.js';
import { EXTERNAL, GATED, MINUTE, PairsBoard } from './pairs-board.js';

const CONFIG = `
agents:
  turned: { consumes: [{ types: [Turned] }], singleton: { key: payload.order, on_conflict: queue }, ${GATED} }
  fence: { consumes: [{ types: [Fence] }], publishes: [{ type: Passed }], engine: { kind: expression, expression: payload } }
  stubborn: { consumes: [{ types: [Stubborn] }], cancel_on: { types: [Off], key: payload.order }, concurrency: 1, engine: { kind: function, module: ./stubborn.js }, timeout: 50h }
  fair: { consumes: [{ types: [Fair] }], fair_by: payload.tenant, timeout: 50h, ${EXTERNAL} }
  packer: { consumes: [{ types: [Item], batch: { size: 3, timeout: 5h, key: payload.warehouse } }], timeout: 50h, ${EXTERNAL} }
  gatherer: { consumes: [{ types: [Loose], batch: { size: 2, key: payload.warehouse } }], timeout: 50h, ${EXTERNAL} }
  called: { consumes: [{ types: [Called] }], cancel_on: { types: [Off], key: payload.order }, timeout: 50h, ${EXTERNAL} }
  placed: { consumes: [{ types: [Placed] }], cancel_on: { types: [Off], key: payload.order }, concurrency: 1, ${GATED} }
`;
const IN_A_MINUTE = { deadline: 'PT1M' };
/** It ignores its aborted signal. */
const STUBBORN = `globalThis.stubbornOnes ??= [];
export default ([{ correlation_id: name }]) =>
  new Promise((resolve) => globalThis.stubbornOnes.push({ name, open: () => resolve(null) }));`;
const stubborn = (): { name: string; open(): void }[] =>
  (globalThis as unknown as { stubbornOnes?: { name: string; open(): void }[] }).stubbornOnes ?? [];

describe('a deadline and', () => {
  const pairs = new PairsBoard();
  const { clock, publish, only, ends, works, waitsAs, claim, claimInOrder, callOff } = pairs;

  beforeAll(() => pairs.start(CONFIG, {}, { 'stubborn.js': STUBBORN }));
  afterAll(() => pairs.close());

  it.each<[string, string, () => unknown]>([
    ['fair_by: what it ends', 'fd', () => clock.advance(MINUTE)],
    [
      'fair_by, as cancel: what it ends',
      'fc',
      () => pairs.board.http.post('/api/v1/correlations/fc2/cancel').expect(200),
    ],
  ])('%s uses no turn', async (_, name, end) => {
    await publish('Fair', [`${name}1`], { tenant: 'a' });
    await publish('Fair', [`${name}2`], { tenant: 'a' }, IN_A_MINUTE);
    await publish('Fair', [`${name}3`], { tenant: 'a' });
    await publish('Fair', [`${name}4`, `${name}5`], { tenant: 'b' });
    await end();
    await ends(`${name}2`, 'cancelled');
    expect(await claimInOrder('fair', 4)).toEqual([1, 4, 3, 5].map((n) => `${name}${n}`));
  });

  it('singleton: what it ends gives its turn to the next one of the key', async () => {
    await publish('Turned', ['sd1'], { order: 'A' }, IN_A_MINUTE);
    await started('sd1', 1);
    await publish('Turned', ['sd2'], { order: 'A' });
    await pairs.waitsFor('sd2', /^singleton of turned: 1 of 1 used/);
    clock.advance(MINUTE);
    await ends('sd1', 'cancelled');
    await works('sd2');
  });

  it('a batch window by a key: the artifact leaves the window of its key, and the others stay', async () => {
    await publish('Item', ['wd1'], { warehouse: 'a' }, IN_A_MINUTE);
    await publish('Item', ['wd2'], { warehouse: 'a' });
    await publish('Item', ['wd3'], { warehouse: 'b' }, IN_A_MINUTE);
    clock.advance(MINUTE);
    for (const name of ['wd1', 'wd3']) await ends(name, 'cancelled');
    await publish('Item', ['wd4'], { warehouse: 'a' });
    await publish('Item', ['wd5', 'wd6'], { warehouse: 'b' });
    expect(await pairs.outside.claim({ agents: ['packer'] })).toEqual([]);
    await publish('Item', ['wd7'], { warehouse: 'b' });
    await publish('Item', ['wd8'], { warehouse: 'a' });
    const held = [...(await claim('packer', 1)), ...(await claim('packer', 1))];
    expect(held.map(({ inputs }) => inputs.map(({ correlation_id }) => correlation_id))).toEqual([
      ['wd5', 'wd6', 'wd7'],
      ['wd2', 'wd4', 'wd8'],
    ]);
  });

  it('a batch window by a key without a time limit: its artifact stays, because its correlation has settled', async () => {
    await publish('Loose', ['wl1'], { warehouse: 'a' }, IN_A_MINUTE);
    await ends('wl1');
    clock.advance(MINUTE);
    await publish('Loose', ['wl2'], { warehouse: 'a' });
    const [held] = await claim('gatherer');
    expect(held!.inputs.map(({ correlation_id }) => correlation_id)).toEqual(['wl1', 'wl2']);
  });

  it('concurrency, as cancel and cancel_on: what they end gives its place to the next one', async () => {
    await publish('Placed', ['pd1'], { order: 'A' }, IN_A_MINUTE);
    await started('pd1', 1);
    await publish('Placed', ['pd2', 'pd4'], { order: 'B' });
    await publish('Placed', ['pd3'], { order: 'C' });
    for (const name of ['pd2', 'pd3', 'pd4']) await waitsAs(name, 'concurrency');
    clock.advance(MINUTE);
    await ends('pd1', 'cancelled');
    await started('pd2', 1);
    expect(['pd3', 'pd4'].flatMap(gatesOf)).toEqual([]);
    await pairs.board.http.post('/api/v1/correlations/pd2/cancel').expect(200);
    await started('pd4', 1);
    expect(gatesOf('pd3')).toEqual([]);
    await callOff('B');
    await works('pd3');
  });

  it('concurrency and an engine that continues: its process starts the next one when the engine has ended', async () => {
    const isNext = (name: string) => eventually(`${name} has started`, () => stubborn().at(-1)?.name === name);
    await publish('Stubborn', ['pe1'], { order: 'A' }, IN_A_MINUTE);
    await isNext('pe1');
    await publish('Stubborn', ['pe2', 'pe3'], { order: 'B' });
    await publish('Stubborn', ['pe4'], { order: 'C' });
    const opensAfter = async (end: () => unknown, name: string, next: string): Promise<void> => {
      await end();
      await eventually(`${name} has ended`, async () => (await only(name)).state === 'cancelled');
      // An execution that can start starts before it.
      await pairs.board.ended(await pairs.board.publish('Fence', {}));
      expect(stubborn().at(-1)!.name).toBe(name);
      stubborn().at(-1)!.open();
      await isNext(next);
    };
    await opensAfter(() => clock.advance(MINUTE), 'pe1', 'pe2');
    await opensAfter(() => pairs.board.http.post('/api/v1/correlations/pe2/cancel').expect(200), 'pe2', 'pe3');
    await opensAfter(() => callOff('B'), 'pe3', 'pe4');
    stubborn().at(-1)!.open();
    await ends('pe4');
  });

  it.each<[string, string, () => unknown]>([
    ['the deadline', 'cr', () => clock.advance(MINUTE)],
    ['cancel', 'cc', () => pairs.board.http.post('/api/v1/correlations/cc/cancel').expect(200)],
  ])(
    'cancel_on in one correlation: %s ends what is left, and what was cancelled stays as it is',
    async (_, name, end) => {
      for (const order of ['third', 'fourth']) await publish('Called', [name], { order }, IN_A_MINUTE);
      const off = await callOff('third');
      expect((await pairs.board.status(name)).state).toBe('active');
      await end();
      await ends(name, 'cancelled');
      const found = (await pairs.executions(name)).map(({ state, cancelled_by: by }) => [state, by ?? null]);
      expect(found).toHaveLength(2);
      expect(found).toEqual(
        expect.arrayContaining([
          ['cancelled', off],
          ['cancelled', null],
        ]),
      );
    },
  );

  it('cancel_on: what was cancelled before stays as it is, and the rest ends with the deadline', async () => {
    await publish('Called', ['cd1'], { order: 'first' }, IN_A_MINUTE);
    await publish('Called', ['cd2'], { order: 'second' }, IN_A_MINUTE);
    const off = await callOff('first');
    await ends('cd1');
    const [held] = await claim('called');
    clock.advance(MINUTE);
    await ends('cd2', 'cancelled');
    expect((await pairs.outside.send(held!, 'complete', { outputs: [] })).status).toBe(409);
    expect(await only('cd2')).not.toHaveProperty('cancelled_by');
    expect(await only('cd1')).toMatchObject({ state: 'cancelled', cancelled_by: off });
    await ends('cd1');
    // An artifact that comes later finds nothing to cancel.
    await callOff('second');
    expect(await only('cd2')).not.toHaveProperty('cancelled_by');
  });
});
