import { eventually } from '../support/eventually.js';
import { GATE, gatesOf, started } from './batch-board.js';
import { Board } from './board.js';

const RECORD = `globalThis.startsAfterPauses ??= [];
export default ([{ payload }]) => { globalThis.startsAfterPauses.push(payload.tenant); return { n: 1 }; };`;
const starts = (): string[] => (globalThis as unknown as { startsAfterPauses?: string[] }).startsAfterPauses ?? [];

const CONFIG = `
limits:
  pool: { concurrency: 1 }
  pair: { concurrency: 2 }
agents:
  holder: { consumes: [{ types: [Held] }], limits: [pool], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  worker: { consumes: [{ types: [Item] }], limits: [pool], concurrency: 1, fair_by: payload.tenant, publishes: [{ type: Recorded }], engine: { kind: function, module: ./record.js } }
  single: { consumes: [{ types: [One] }], limits: [pair], concurrency: 1, publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
  other: { consumes: [{ types: [Other] }], limits: [pair], publishes: [{ type: Ended }], engine: { kind: function, module: ./gate.js }, timeout: 1h }
`;
const MANY = 30;
/** A look each second would need six times as long for those that wait. */
const SOON_MS = 10_000;

/** Uses the whole app over HTTP. An agent cannot start what waits for a limit that others use. */
describe('executions that wait for a limit, of an agent that cannot start them', () => {
  let board: Board;
  beforeAll(async () => {
    board = await Board.start(CONFIG, { files: { 'gate.js': GATE, 'record.js': RECORD } });
  });
  afterAll(() => board.close());

  const hold = (name: string, type = 'Held'): Promise<string> =>
    board.publish(type, { batch: name, n: 1 }, { correlation: name });
  const waits = (name: string): Promise<void> =>
    eventually(`${name} waits for the limit`, async () => {
      const { body } = await board.http.get(`/api/v1/correlations/${name}/waiting`).expect(200);
      return /^limit p/.test((body as { items: { limit: string | null }[] }).items[0]?.limit ?? '');
    });

  it('let those of others pass while the agent is paused, and start in the turns of their keys when it is resumed', async () => {
    await hold('holds');
    await started('holds', 1);
    for (const tenant of ['many', 'few']) {
      for (let n = 0; n < MANY; n += 1) await board.publish('Item', { tenant }, { correlation: `${tenant}-${n}` });
      await waits(`${tenant}-${MANY - 1}`);
    }
    await board.http.post('/api/v1/agents/worker/pause').expect(200);
    await hold('passes');
    await waits('passes');

    gatesOf('holds')[0]!.open();
    const freedAt = performance.now();
    await started('passes', 1);
    expect(performance.now() - freedAt).toBeLessThan(SOON_MS);

    await board.http.post('/api/v1/agents/worker/resume').expect(200);
    gatesOf('passes')[0]!.open();
    for (let n = 0; n < MANY; n += 1) expect((await board.ended(`few-${n}`)).state).toBe('completed');
    for (let n = 0; n < MANY; n += 1) {
      const [many, few] = ['many', 'few'].map((tenant) =>
        starts()
          .slice(0, 2 * n)
          .filter((each) => each === tenant),
      );
      expect(Math.abs(many!.length - few!.length)).toBeLessThanOrEqual(2);
    }
  });

  it('let those of others pass while the agent runs as many as it may', async () => {
    await hold('first', 'Other');
    await hold('second', 'Other');
    await started('first', 1);
    await started('second', 1);
    for (let n = 0; n < MANY; n += 1) await hold(`single-${n}`, 'One');
    await waits(`single-${MANY - 1}`);
    await hold('third', 'Other');
    await waits('third');

    gatesOf('first')[0]!.open();
    await started('single-0', 1);
    gatesOf('second')[0]!.open();
    const freedAt = performance.now();
    await started('third', 1);
    expect(performance.now() - freedAt).toBeLessThan(SOON_MS);
    expect(gatesOf('single-1')).toHaveLength(0);

    gatesOf('third')[0]!.open();
    for (let n = 0; n < MANY; n += 1) {
      await started(`single-${n}`, 1);
      gatesOf(`single-${n}`)[0]!.open();
    }
    expect((await board.ended(`single-${MANY - 1}`)).state).toBe('completed');
  });
});
