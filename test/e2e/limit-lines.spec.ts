import { gatesOf, started } from './batch-board.js';
import { PairsBoard } from './pairs-board.js';

const RECORD = `globalThis.startsOfLines ??= [];
export default ([{ payload }]) => { globalThis.startsOfLines.push(payload.name); return { name: payload.name }; };`;
const starts = (): string[] => (globalThis as unknown as { startsOfLines?: string[] }).startsOfLines ?? [];

const CONFIG = `
limits:
  pool: { concurrency: 1 }
agents:
  holder: { consumes: [{ types: [Held] }], limits: [pool], publishes: [{ type: Recorded }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  worker: { consumes: [{ types: [Item] }], limits: [pool], concurrency: 1, fair_by: payload.tenant, publishes: [{ type: Recorded }], engine: { kind: function, module: ./record.js } }
`;
const MANY = 300;

/** Uses the whole app over HTTP. While a limit has no room, an agent has so many executions ready that its claims take a while. */
describe('an execution that waits for a limit starts before those of its agent that are ready and come after it', () => {
  const pairs = new PairsBoard();
  beforeAll(() => pairs.start(CONFIG, {}, { 'record.js': RECORD }));
  afterAll(() => pairs.close());

  it('if its key is the next one', async () => {
    const { publish, pause, resume, waitsFor, ends } = pairs;
    await publish('Held', ['holds']);
    await started('holds', 1);
    await pause('worker');
    const payload = { name: 'many', tenant: 'many' };
    await Promise.all(
      Array.from({ length: MANY }, () => pairs.board.publish('Item', payload, { correlation: 'many' })),
    );
    await publish('Item', ['few'], { name: 'few', tenant: 'few' });
    await resume('worker');
    await waitsFor('few', /^limit pool: 1 of 1 used/);
    gatesOf('holds')[0]!.open();
    await ends('few');
    expect(starts().filter((name) => name === 'many').length).toBeLessThanOrEqual(3);
    await ends('many');
  });
});
