import { eventually } from '../support/eventually.js';
import { GATE, gatesOf, started } from './batch-board.js';
import type { Board } from './board.js';
import { Replicas, WORKER } from './replica-boards.js';

const SLOTS = 2;
const PROCESSES = 3;
const ALL = SLOTS * PROCESSES;
const WITHIN_MS = 1_000;
const agent = (name: string, type: string, limit: string): string =>
  `  ${name}: { consumes: [{ types: [${type}] }], publishes: [{ type: Passed }], limits: [${limit}], engine: { kind: function, module: ./gate.js }, timeout: 1h }`;
const CONFIG = `
limits:
  pool: { concurrency: 1 }
  calls: { rate: 1/h }
  seats: { concurrency: ${ALL} }
agents:
${agent('gate', 'Gated', 'pool')}
${agent('caller', 'Call', 'calls')}
${agent('guest', 'Guest', 'seats')}
`;

interface Execution {
  started_at: string | null;
  ended_at: string | null;
}

/** Epoch ms. */
interface Run {
  start: number;
  end: number;
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

  /** Returns when the values were set, by the clock of the database, as the times of executions are. */
  const put = async (board: Board, limit: string, values: object): Promise<number> => {
    const { body } = await board.http.put(`/api/v1/limits/${limit}`).send(values).expect(200);
    return Date.parse((body as { set_at: string }).set_at);
  };

  const use = async (limit = 'pool'): Promise<{ running: number; waiting: number }> =>
    (await boards[1]!.http.get(`/api/v1/limits/${limit}`).expect(200)).body as { running: number; waiting: number };

  const publish = async (type: string, batch: string, count: number): Promise<void> => {
    for (let n = 0; n < count; n += 1) await boards[n % PROCESSES]!.publish(type, { n, batch });
  };

  /** The executions of an agent that have started, in that order. */
  const runsOf = async (agent: string): Promise<Run[]> => {
    const { body } = await boards[2]!.http.get('/api/v1/executions').query({ agent, limit: 500 }).expect(200);
    return (body as { items: Execution[] }).items
      .filter(({ started_at }) => started_at !== null)
      .map(({ started_at, ended_at }) => ({
        start: Date.parse(started_at!),
        end: ended_at === null ? Infinity : Date.parse(ended_at),
      }))
      .sort((one, other) => one.start - other.start);
  };

  const openAll = async (limit: string, batch: string, count: number): Promise<void> => {
    let opened = 0;
    await eventually(`all ${count} of ${batch} have ended`, async () => {
      const gates = gatesOf(batch);
      while (opened < gates.length) gates[opened++]!.open();
      const { running, waiting } = await use(limit);
      return opened === count && running + waiting === 0;
    });
  };

  it('holds in all of them within a second', async () => {
    await publish('Gated', 'raised', ALL);
    await started('raised', 1);
    await eventually('all others wait for the limit', async () => (await use()).waiting === ALL - 1);

    const raised = await put(boards[0]!, 'pool', { concurrency: ALL });
    // Each process has two slots, so all of them have seen the value.
    await started('raised', ALL);
    const runs = await runsOf('gate');
    expect(runs).toHaveLength(ALL);
    expect(runs.at(-1)!.start - raised).toBeLessThan(WITHIN_MS);

    await put(boards[1]!, 'pool', { concurrency: 1 });
    gatesOf('raised').forEach((gate) => gate.open());
    await eventually('all have ended', async () => (await use()).running === 0);
    await publish('Gated', 'lowered', ALL);
    for (let ended = 0; ended < ALL; ended += 1) {
      await started('lowered', ended + 1);
      expect(await use()).toMatchObject({ running: 1 });
      expect(gatesOf('lowered')).toHaveLength(ended + 1);
      gatesOf('lowered')[ended]!.open();
    }
  });

  it('starts nothing above a lower value from the answer on, in any of them', async () => {
    const LOWER = 2;
    await publish('Guest', 'above', ALL);
    await started('above', ALL);
    await publish('Guest', 'above', ALL);
    const lowered = await put(boards[2]!, 'seats', { concurrency: LOWER });
    await openAll('seats', 'above', 2 * ALL);
    const runs = await runsOf('guest');
    const later = runs.filter(({ start }) => start >= lowered);
    expect(later).toHaveLength(ALL);
    for (const { start } of later)
      expect(runs.filter((other) => other.start <= start && other.end > start).length).toBeLessThanOrEqual(LOWER);
  });

  it('has the values of the file again within a second after DELETE, in all of them', async () => {
    await put(boards[0]!, 'seats', { concurrency: 1 });
    await publish('Guest', 'deleted', ALL);
    await started('deleted', 1);
    await eventually('all others wait for the limit', async () => (await use('seats')).waiting === ALL - 1);
    await boards[1]!.http.delete('/api/v1/limits/seats').expect(200);
    const deleted = Date.now();
    await started('deleted', ALL);
    expect((await runsOf('guest')).at(-1)!.start - deleted).toBeLessThan(WITHIN_MS);
    await openAll('seats', 'deleted', ALL);
  });

  it('has another rate within a second, in all of them', async () => {
    await publish('Call', 'rated', ALL);
    await started('rated', 1);
    await eventually('all others wait for the rate', async () => (await use('calls')).waiting === ALL - 1);
    const faster = await put(boards[0]!, 'calls', { rate: '1000/s', burst: 100 });
    await started('rated', ALL);
    expect((await runsOf('caller')).at(-1)!.start - faster).toBeLessThan(WITHIN_MS);
    await openAll('calls', 'rated', ALL);

    // The rate of an hour, of which one starts.
    const slower = await put(boards[1]!, 'calls', { rate: '1/h' });
    await publish('Call', 'slow', ALL);
    await started('slow', 1);
    await eventually('all others wait for the rate', async () => (await use('calls')).waiting === ALL - 1);
    expect((await runsOf('caller')).filter(({ start }) => start >= slower)).toHaveLength(1);
    await put(boards[2]!, 'calls', {});
    await openAll('calls', 'slow', ALL);
  });
});
