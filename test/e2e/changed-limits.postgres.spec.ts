import { eventually } from '../support/eventually.js';
import { GATE, gatesOf, started } from './batch-board.js';
import type { Board } from './board.js';
import { Replicas, WORKER } from './replica-boards.js';

const SLOTS = 2;
const PROCESSES = 3;
const ALL = SLOTS * PROCESSES;
const WITHIN_MS = 1_000;
const CONFIG = `
limits:
  pool: { concurrency: 1 }
agents:
  gate: { consumes: [{ types: [Gated] }], publishes: [{ type: Passed }], limits: [pool], engine: { kind: function, module: ./gate.js }, timeout: 1h }
`;

interface Execution {
  state: string;
  started_at: string | null;
}

/** Uses three apps over HTTP on one Postgres, and real time. */
describe('a limit that a client changes at one of three processes', () => {
  const replicas = new Replicas();
  const boards: Board[] = [];

  beforeAll(async () => {
    const settings = { maxConcurrentExecutions: SLOTS };
    for (let n = 0; n < PROCESSES; n += 1)
      boards.push(await replicas.start(CONFIG, { files: { 'gate.js': GATE }, role: WORKER, settings }));
  });
  afterAll(() => replicas.close());

  const put = async (board: Board, concurrency: number): Promise<number> => {
    const { body } = await board.http.put('/api/v1/limits/pool').send({ concurrency }).expect(200);
    return Date.parse((body as { set_at: string }).set_at);
  };

  const use = async (): Promise<{ running: number; waiting: number }> =>
    (await boards[1]!.http.get('/api/v1/limits/pool').expect(200)).body as { running: number; waiting: number };

  it('holds in all of them within a second', async () => {
    for (let n = 0; n < ALL; n += 1) await boards[n % PROCESSES]!.publish('Gated', { n, batch: 'raised' });
    await started('raised', 1);
    await eventually('all others wait for the limit', async () => (await use()).waiting === ALL - 1);

    const raised = await put(boards[0]!, ALL);
    // Each process has two slots, so all of them have seen the value.
    await started('raised', ALL);
    const { body } = await boards[2]!.http.get('/api/v1/executions').query({ agent: 'gate' }).expect(200);
    const starts = (body as { items: Execution[] }).items.map(({ started_at }) => Date.parse(started_at!));
    expect(starts).toHaveLength(ALL);
    expect(Math.max(...starts) - raised).toBeLessThan(WITHIN_MS);

    await put(boards[1]!, 1);
    gatesOf('raised').forEach((gate) => gate.open());
    await eventually('all have ended', async () => (await use()).running === 0);
    for (let n = 0; n < ALL; n += 1) await boards[n % PROCESSES]!.publish('Gated', { n, batch: 'lowered' });
    for (let ended = 0; ended < ALL; ended += 1) {
      await started('lowered', ended + 1);
      expect(await use()).toMatchObject({ running: 1 });
      expect(gatesOf('lowered')).toHaveLength(ended + 1);
      gatesOf('lowered')[ended]!.open();
    }
  });
});
