import { setTimeout as delay } from 'node:timers/promises';

import { builtProgram } from '../support/built-program.js';
import { databaseAt, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { PostgresCluster } from '../support/postgres-cluster.js';
import { AllConnections } from './database-loss/all-connections.js';
import { freeze } from './database-loss/frozen-postgres.js';
import { complaints, observe, Probe, publishRate } from './database-loss/probe.js';
import { breaches } from './invariants.js';
import { Ledger } from './ledger.js';
import { Replica } from './replicas/replica.js';

const CONFIG = new URL('./warehouse/starling.yaml', import.meta.url).pathname;
const RECOVERY_MS = 30_000;
/**
 * The share of the rate before. Other processes of this machine take a varying share of it; a service that waits for its
 * database, or for connections, stores a few artifacts a second instead of hundreds.
 */
const SAME_RATE = 0.5;

const NEED_DATABASE = [
  'publish',
  'publish and wait',
  'publish with a key',
  'run',
  'batch',
  'list artifacts',
  'list runs',
  'status',
  'ready',
];

/** Resolves when the service has answered each of these requests with 503. */
const refused = (probe: Probe, ...requests: string[]): Promise<void> =>
  eventually(`${requests.join(', ')} are refused`, () => requests.every((what) => probe.statuses(what).includes(503)));

/** Runs the built program, HTTP, and a separate durable Postgres server with its failures. Nothing is faked. */
describe('a service whose database', () => {
  const ledger = new Ledger();
  let cluster: PostgresCluster;
  let database: TestDatabase;
  let replica: Replica;
  let rate: number;

  beforeAll(async () => {
    await builtProgram();
    cluster = await PostgresCluster.start({ max_connections: '50' });
    database = databaseAt(cluster.url());
    replica = new Replica('the service', [
      '--config',
      CONFIG,
      '--database-url',
      database.url,
      '--lease',
      '2s',
      '--log-level',
      'warn',
    ]);
    await replica.start();
    await publishRate(replica.url);
    rate = await publishRate(replica.url);
  });

  afterAll(async () => {
    await replica?.retire();
    await cluster?.close();
  });

  /** Resolves when `loss` is over and the service has recovered. */
  async function during(loss: (probe: Probe) => Promise<void>): Promise<void> {
    const probe = new Probe(replica.url, ledger);
    await eventually('each client has had an answer', () => new Set(probe.seen.map(({ what }) => what)).size === 12);
    await loss(probe);
    const back = performance.now();
    const isReady = async (): Promise<boolean> =>
      replica.crashes.length > 0 || (await observe(replica.url, 'ready', '/health/ready')).status === 200;
    await eventually('the service is ready', isReady, RECOVERY_MS);
    expect(replica.crashes).toEqual([]);
    await probe.stop();
    const rates: number[] = [];
    await eventually(
      'the rate has recovered',
      async () => rates.push(await publishRate(replica.url)) > 0 && rates.at(-1)! >= rate * SAME_RATE,
      RECOVERY_MS,
    );
    const statuses = Object.entries(Object.groupBy(probe.seen, ({ status }) => String(status))).map(
      ([status, all]) => `${all!.length} of ${status}`,
    );
    const slowest = Math.max(...probe.seen.map(({ ms }) => ms));
    console.log(
      `${expect.getState().currentTestName}: ${statuses.join(', ')}, the slowest after ${slowest} ms; ${rates.join(', ')} publishes/s (${rate} before), ${Math.round(performance.now() - back)} ms after its return`,
    );
    expect(complaints(probe.seen)).toEqual([]);
    expect([...replica.crashes, ...replica.bugs()]).toEqual([]);
  }

  it('crashes and is restarted answers 503 meanwhile, and recovers by itself', async () => {
    await during(async (probe) => {
      await cluster.stop('immediate');
      await Promise.all([delay(4_000), refused(probe, ...NEED_DATABASE)]);
      await cluster.restart();
    });
  });

  it('repeatedly closes its sessions answers the requests that it can', async () => {
    await during(async () => {
      for (let times = 0; times < 8; times += 1) {
        await cluster.killSessions();
        await delay(250);
      }
    });
  });

  it('grants no connections answers 503, and recovers when some are available', async () => {
    await during(async (probe) => {
      const all = await AllConnections.take(cluster);
      // More than the service's connections: those that it has serve all requests.
      const crowd = await Promise.all(
        Array.from({ length: 100 }, () =>
          observe(replica.url, 'crowd', '/api/v1/artifacts', { type: 'Left', payload: { n: 4 } }),
        ),
      );
      expect(complaints(crowd)).toEqual([]);
      await all.takeFromService();
      await Promise.all([delay(3_000), refused(probe, 'ready', 'publish')]);
      await all.release();
    });
  });

  it('has fewer connections than there are requests answers all of them', async () => {
    const publish = (n: number) =>
      observe(replica.url, 'publish', '/api/v1/artifacts', { type: 'Left', payload: { n } });
    const read = (n: number) => observe(replica.url, 'read', `/api/v1/artifacts?limit=1&offset=${n}`);
    const answers = await Promise.all(Array.from({ length: 400 }, (_, n) => (n % 2 === 0 ? publish(n) : read(n))));
    expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  });

  it('hangs is abandoned after a few seconds, and reconnected', async () => {
    await during(async (probe) => {
      const resume = await freeze(cluster);
      try {
        await Promise.all([delay(16_000), refused(probe, 'ready', 'publish', 'list artifacts')]);
      } finally {
        resume();
      }
    });
  });

  it('has lost and duplicated nothing during all failures', async () => {
    const unfinished = /is still|is active|is left over|lease/;
    await eventually(
      'all work has finished',
      async () => !(await breaches(database, ledger)).some((breach) => unfinished.test(breach)),
    );
    expect(await breaches(database, ledger)).toEqual([]);
    expect(await replica.end()).toBe(0);
  });
});
