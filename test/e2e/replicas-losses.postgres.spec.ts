import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { queryOnce } from '../support/postgres-cluster.js';
import { QUEUED } from '../support/queued-agents.js';
import { printedSeed, Random } from '../support/random.js';
import { ended, finish, GATE, gatesOf, orders, send, started } from './batch-board.js';
import { type Board, tally } from './board.js';
import { Replicas, SERVER, withoutPolling, WORKER } from './replica-boards.js';

const CONFIG = `
agents:
  double:
    consumes: [{ types: [Number] }]
    publishes: [{ type: Doubled }]
    engine: { kind: function, module: ./double.js }
    concurrency: 3
  second:
    consumes: [{ types: [Doubled] }]
    publishes: [{ type: Quadrupled }]
    engine: { kind: function, module: ./double.js }
  shaky:
    consumes: [{ types: [Number] }]
    publishes: [{ type: Steady }]
    engine: { kind: function, module: ./shaky.js }
    retry: { attempts: 3, delay: 20ms }
  gate:
    consumes: [{ types: [Gated] }]
    publishes: [{ type: Passed }]
    engine: { kind: function, module: ./gate.js }
    concurrency: 10
    timeout: 1h
`;

const FILES = {
  ...QUEUED,
  'gate.js': GATE,
  'shaky.js': `export default ([{ payload }], { attempt }) => {
    if (attempt < 2) throw new Error('not yet');
    return { n: payload.n };
  };`,
};

const LEASE_MS = 30_000;

/** Finds the connections on which processes listen to each other by their last query. */
const LISTENERS = `select pid from pg_stat_activity
  where datname = current_database() and application_name = 'starling' and (query in ('listen starling', 'select 1') or query like 'select pg_notify%')`;

/**
 * Uses three apps over HTTP on one Postgres, one of which runs no executions. The test ends the connections on which
 * they listen.
 */
describe('processes that receive no notifications', () => {
  const random = new Random(printedSeed());
  let replicas: Replicas;
  let boards: Board[];

  beforeEach(async () => {
    replicas = new Replicas();
    boards = [];
    for (const role of [SERVER, WORKER, WORKER])
      boards.push(await replicas.start(CONFIG, { files: FILES, role, settings: { maxConcurrentExecutions: 4 } }));
  });

  afterEach(() => replicas.close());

  const any = (): Board => boards[random.between(0, boards.length - 1)]!;

  async function load(): Promise<void> {
    const ids: string[] = [];
    for (let n = 0; n < 60; n += 1) {
      const visibility = n % 4 === 0 ? { kind: 'After', ttl: 'PT0.2S' } : { kind: 'Public' };
      ids.push(await any().publish('Number', { n }, { visibility }));
    }
    const batches = await Promise.all([0, 1].map(() => send(any(), 'double', orders(20))));
    const answers = await Promise.all(orders(10).map(() => any().publishSync('Number', { n: 1 }, { timeout: 60 })));
    for (const { completed, artifacts } of answers)
      expect([completed, artifacts.map(({ type }) => type).sort()]).toEqual([
        true,
        ['Doubled', 'Quadrupled', 'Steady'],
      ]);
    for (const id of ids) {
      expect(await any().ended(id)).toMatchObject({ state: 'completed', error_count: 0 });
      expect((await any().types(id)).sort()).toEqual(['Doubled', 'Number', 'Quadrupled', 'Steady']);
    }
    for (const id of batches)
      expect(await ended(any(), id)).toMatchObject({ status: 'completed', completed_items: 20, failed_items: 0 });
  }

  it('finish everything while those connections are closed at random', async () => {
    const endOne = async (): Promise<number> => {
      const listeners = await queryOnce<{ pid: number }>(boards[0]!.app.database.url, LISTENERS);
      if (listeners.length === 0) return 0;
      const { pid } = listeners[random.between(0, listeners.length - 1)]!;
      return (await queryOnce(boards[0]!.app.database.url, 'select pg_terminate_backend($1)', [pid])).length;
    };
    expect(await whileIt(endOne, load)).toBeGreaterThan(3);
  });

  it('finish everything while all of those connections are closed', async () => {
    const endAll = async (): Promise<number> =>
      (await queryOnce(boards[0]!.app.database.url, `select pg_terminate_backend(pid) from (${LISTENERS}) listeners`))
        .length;
    expect(await whileIt(endAll, load)).toBeGreaterThan(3);
  });

  it('receive notifications again when they listen again', async () => {
    const { database } = boards[0]!.app;
    await queryOnce(database.url, `select pg_terminate_backend(pid) from (${LISTENERS}) listeners`);
    await eventually('all listen again', async () => (await database.rows(LISTENERS)).length === 3);
    // Without polls, only notifications bring the work to a worker and its end to the client that waits.
    boards.forEach(withoutPolling);
    for (let n = 0; n < 11; n += 1)
      expect(await boards[0]!.publishSync('Number', { n }, { timeout: 60 })).toMatchObject({ completed: true });
  });

  /** Repeats `disturb` until the work is done, and returns the sum of its results. */
  async function whileIt(disturb: () => Promise<number>, work: () => Promise<void>): Promise<number> {
    let isOver = false;
    let sum = 0;
    const done = work().finally(() => (isOver = true));
    while (!isOver) {
      sum += await disturb();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await done;
    return sum;
  }
});

/**
 * Uses three apps as above. The clocks are faked, one for each app: the one that stands still is that of a stopped
 * process.
 */
describe('work of a process that was lost', () => {
  let replicas: Replicas;

  beforeEach(() => {
    replicas = new Replicas();
  });

  afterEach(() => replicas.close());

  const begin = (role = WORKER, clock?: ManualClock): Promise<Board> =>
    replicas.start(CONFIG, { files: FILES, role, clock, settings: { leaseMs: LEASE_MS } });

  it('is run by another one when the lease has expired, and the late answer of the lost one is discarded', async () => {
    const clocks = [new ManualClock(), new ManualClock()];
    const lost = await begin(WORKER, clocks[0]);
    const ids = await Promise.all(orders(5, { batch: 'lost' }).map((order) => lost.publish('Gated', order)));
    await started('lost', 5);
    const other = await begin(WORKER, clocks[1]);
    expect(gatesOf('lost')).toHaveLength(5);

    clocks[1]!.advance(LEASE_MS + 1_000);
    await started('lost', 10);
    const [first, again] = [gatesOf('lost').slice(0, 5), gatesOf('lost').slice(5)];
    // The first answer is that of the process that lost its lease.
    first.forEach((gate) => gate.open());
    again[0]!.open();
    await eventually('one has finished', async () =>
      (await Promise.all(ids.map((id) => other.status(id)))).some(({ state }) => state !== 'active'),
    );
    expect(tally((await Promise.all(ids.map((id) => other.status(id)))).map(({ state }) => state))).toEqual({
      active: 4,
      completed: 1,
    });

    again.forEach((gate) => gate.open());
    for (const id of ids) {
      expect(await other.ended(id)).toEqual({
        ...(await lost.status(id)),
        state: 'completed',
        artifact_count: 2,
        error_count: 0,
        has_pending_work: false,
      });
    }
    expect(gatesOf('lost')).toHaveLength(10);
    const attempts = await other.app.database.rows<{ attempt: number; lost_leases: number }>(
      'select distinct attempt, lost_leases from executions',
    );
    expect(attempts).toEqual([{ attempt: 1, lost_leases: 1 }]);
  });

  it('is run immediately by another one when the process was stopped without grace, and does not count as a lost lease', async () => {
    const [stopped, other] = [await begin(), await begin(SERVER)];
    const ids = await Promise.all(orders(5, { batch: 'handed back' }).map((order) => other.publish('Gated', order)));
    const batch = await send(other, 'gate', orders(5, { batch: 'batch handed back' }));
    await started('handed back', 5);
    await started('batch handed back', 1);
    const next = await begin();
    await stopped.close();
    await started('handed back', 10);
    expect(
      gatesOf('handed back')
        .slice(0, 5)
        .every(({ isAborted }) => isAborted),
    ).toBe(true);
    gatesOf('handed back').forEach((gate) => gate.open());
    for (const id of ids)
      expect(await next.ended(id)).toMatchObject({ state: 'completed', artifact_count: 2, error_count: 0 });
    await finish(other, [batch], ['batch handed back']);
    expect(await ended(other, batch)).toMatchObject({ status: 'completed', completed_items: 5, failed_items: 0 });
    expect(await other.app.database.rows('select 1 from executions where lost_leases > 0')).toEqual([]);
  });
});
