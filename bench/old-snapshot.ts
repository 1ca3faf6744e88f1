// npm run bench:old-snapshot [-- minutes]: measures claims per second of a service on Postgres under load, before and
// while another session keeps a transaction open and idle (10 minutes by default). Its snapshot prevents vacuum from
// removing every row version that it might still see, including those of executions that finished long ago.
import { PostgresCluster, queryOnce } from '../test/support/postgres-cluster.ts';
import { LoadGenerator, Server } from './children.ts';
import { SETTINGS } from './postgres.ts';
import { report } from './report.ts';
import { CONNECTIONS, SYNC_PUBLISH } from './requests.ts';
import { perSecond, printTable } from './row.ts';
import { SnapshotHolder } from './snapshot-holder.ts';
import { inWorkspace } from './workspace.ts';

const MINUTES = Number(process.argv[2] ?? 10);
if (!(MINUTES > 0)) throw new Error(`must be a number of minutes (got "${process.argv[2]}")`);
const MINUTE_SECONDS = 60;
const WARM_SECONDS = 10;

await inWorkspace(bench);

async function bench(folder: string): Promise<void> {
  const cluster = await PostgresCluster.start(SETTINGS);
  await queryOnce(cluster.url(), 'create database old_snapshot');
  const databaseUrl = cluster.url('old_snapshot');
  const server = await Server.starling(folder, 'service', { databaseUrl });
  const generator = new LoadGenerator();
  const claimsPerSecond = async (seconds: number): Promise<number> => {
    const [claims, started] = [await claimsOf(server), performance.now()];
    await generator.run({ url: server.url, requests: SYNC_PUBLISH, connections: CONNECTIONS, until: { seconds } });
    return ((await claimsOf(server)) - claims) / ((performance.now() - started) / 1_000);
  };

  await claimsPerSecond(WARM_SECONDS);
  const before = await claimsPerSecond(MINUTE_SECONDS);
  report(`before: ${perSecond(before)}`);
  const holder = await SnapshotHolder.begin(databaseUrl);
  const held: number[] = [];
  for (let left = MINUTES * MINUTE_SECONDS; left > 0; left -= MINUTE_SECONDS) {
    held.push(await claimsPerSecond(Math.min(left, MINUTE_SECONDS)));
    report(`minute ${held.length}: ${perSecond(held.at(-1)!)}`);
  }
  const kept = await holder.end();
  await server.stop();
  await cluster.close();
  generator.stop();

  const least = Math.min(...held);
  printTable([
    {
      work: `claims/s in the slowest of ${MINUTES} minutes that a session is idle in its transaction, of before`,
      value: least / before,
      atLeast: 0.7,
      aim: null,
      better: 'higher',
      unit: '',
      measured: `${perSecond(least)}, in the last ${perSecond(held.at(-1)!)}; ${kept.toLocaleString('en')} dead rows of executions kept`,
      baseline: `before ${perSecond(before)}`,
    },
  ]);
}

async function claimsOf({ url }: Server): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  return Number(/^starling_queue_wait_seconds_count\{agent="answerer"\} (\d+)$/m.exec(metrics)?.[1] ?? 0);
}
