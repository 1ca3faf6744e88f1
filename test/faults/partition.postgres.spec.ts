import { builtProgram } from '../support/built-program.js';
import { databaseAt, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { PostgresCluster, queryOnce } from '../support/postgres-cluster.js';
import { printedSeed, Random } from '../support/random.js';
import { complaints, observe, type Observed } from './database-loss/probe.js';
import { Namespace } from './partition/namespace.js';
import { aftermath } from './replicas/aftermath.js';
import { HistoryRecorder } from './replicas/history-recorder.js';
import { Load } from './replicas/load.js';
import { LoadLedger } from './replicas/load-ledger.js';
import { Replica } from './replicas/replica.js';

const CONFIG = new URL('./warehouse/starling.yaml', import.meta.url).pathname;
const RECOVERY_MS = 60_000;
// A lease, and the ten seconds for which the server keeps the locks of a lost session, on a busy machine.
const TAKEN_OVER_MS = 90_000;

const namespace = Namespace.make();
if (!namespace) console.log('skipped: a partition needs root, and the command ip');

/**
 * Runs three services as processes, one of them in a network namespace whose link to a real Postgres server is cut
 * under load.
 */
(namespace ? describe : describe.skip)('a replica that is cut off from the database', () => {
  const ledger = new LoadLedger();
  const recorder = new HistoryRecorder(null);
  let cluster: PostgresCluster;
  let database: TestDatabase;
  let cutOff: Replica;
  let others: Replica[];
  let naps = 0;

  beforeAll(async () => {
    await builtProgram();
    cluster = await PostgresCluster.start({ listen_addresses: '*' });
    await admit(cluster, `${namespace!.database.there}/32`);
    database = databaseAt(cluster.url());
    const args = (url: string): string[] => [
      '--config',
      CONFIG,
      '--database-url',
      url,
      '--lease',
      '2s',
      '--log-level',
      'warn',
    ];
    const url = new URL(database.url);
    url.hostname = namespace!.database.here;
    cutOff = new Replica(
      'the replica that is cut off',
      [...args(url.href), '--host', namespace!.clients.there],
      namespace!.within,
    );
    others = [new Replica('replica 1', args(database.url)), new Replica('replica 2', args(database.url))];
    await cutOff.start();
  });

  afterAll(async () => {
    await Promise.all([cutOff, ...(others ?? [])].map((replica) => replica?.retire()));
    await cluster?.close();
    namespace!.remove();
  });

  const nap = (replica: Replica): Promise<Observed> =>
    observe(replica.url, 'publish', '/api/v1/artifacts', { type: 'Nap', payload: { n: (naps += 1), ms: 3_000 } });

  it('is replaced by the others, reports that it is not ready, and recovers by itself', async () => {
    const [worker] = await database.rows<{ id: string }>('select id from processes');
    const held = async (): Promise<number> =>
      (await database.rows(`select id from executions where state = 'running' and lease_owner = '${worker!.id}'`))
        .length;
    await Promise.all(others.map((replica) => replica.start()));
    const load = new Load([cutOff, ...others], ledger, new Random(printedSeed()), recorder);
    await eventually('it runs an execution', async () => (await nap(cutOff)).status === 200 && (await held()) > 0);

    namespace!.cut();
    let since = performance.now();
    const say = (what: string): void =>
      console.log(`${what}, ${Math.round((performance.now() - since) / 100) / 10} s later`);
    const seen: Observed[] = [];
    const answers = (what: string, path: string, status: number) => async (): Promise<boolean> =>
      seen.push(await observe(cutOff.url, what, path)) > 0 && seen.at(-1)!.status === status;
    await eventually('others have taken over what it ran', async () => (await held()) === 0, TAKEN_OVER_MS);
    say('cut off; what it ran is taken over');
    await eventually('it says that it is not ready', answers('ready', '/health/ready', 503), RECOVERY_MS);
    expect(await answers('live', '/health/live', 200)()).toBe(true);
    await eventually(
      'it refuses',
      async () => seen.push(await nap(cutOff)) > 0 && seen.at(-1)!.status === 503,
      RECOVERY_MS,
    );
    await eventually('the others continue', async () => (await nap(others[0]!)).status === 200);

    say('cut off; it refuses, the others go on');

    namespace!.mend();
    since = performance.now();
    await eventually('it is ready again', answers('ready', '/health/ready', 200), RECOVERY_MS);
    await eventually(
      'it works again',
      async () => (await nap(cutOff)).status === 200 && (await held()) > 0,
      RECOVERY_MS,
    );
    say('mended; it works again');
    await load.stop();
    expect(complaints(seen)).toEqual([]);
    expect(await aftermath([cutOff, ...others], database, ledger, recorder, say)).toEqual([]);
  });
});

/** Lets clients from an address log in. */
async function admit(cluster: PostgresCluster, address: string): Promise<void> {
  await queryOnce(
    cluster.url(),
    `copy (select 'host all all ${address} scram-sha-256') to program 'cat >> pg_hba.conf'`,
  );
  await queryOnce(cluster.url(), 'select pg_reload_conf()');
}
