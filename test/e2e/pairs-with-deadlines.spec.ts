// Pairs of rules of which one is a deadline. Uses the whole app over HTTP on a database. The clock is faked.
import { gatesOf, started } from './batch-board.js';
import { EXTERNAL, GATED, MINUTE, PairsBoard } from './pairs-board.js';

const CONFIG = `
agents:
  fair: { consumes: [{ types: [Fair] }], fair_by: payload.tenant, timeout: 50h, ${EXTERNAL} }
  packer: { consumes: [{ types: [Item], batch: { size: 3, timeout: 5h, key: payload.warehouse } }], timeout: 50h, ${EXTERNAL} }
  gatherer: { consumes: [{ types: [Loose], batch: { size: 2, key: payload.warehouse } }], timeout: 50h, ${EXTERNAL} }
  called: { consumes: [{ types: [Called] }], cancel_on: { types: [Off], key: payload.order }, timeout: 50h, ${EXTERNAL} }
  placed: { consumes: [{ types: [Placed] }], cancel_on: { types: [Off], key: payload.order }, concurrency: 1, ${GATED} }
`;
const IN_A_MINUTE = { deadline: 'PT1M' };

describe('a deadline and', () => {
  const pairs = new PairsBoard();
  const { clock, publish, only, ends, works, waitsAs, claim, claimInOrder, callOff } = pairs;

  beforeAll(() => pairs.start(CONFIG));
  afterAll(() => pairs.close());

  it('fair_by: what it ends uses no turn', async () => {
    await publish('Fair', ['fd1'], { tenant: 'a' });
    await publish('Fair', ['fd2'], { tenant: 'a' }, IN_A_MINUTE);
    await publish('Fair', ['fd3'], { tenant: 'a' });
    await publish('Fair', ['fd4', 'fd5'], { tenant: 'b' });
    clock.advance(MINUTE);
    await ends('fd2', 'cancelled');
    expect(await claimInOrder('fair', 4)).toEqual(['fd1', 'fd4', 'fd3', 'fd5']);
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
