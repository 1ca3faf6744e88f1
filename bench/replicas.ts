import { LoadGenerator, Server } from './children.ts';
import type { LoadRequest, Measured } from './load.ts';
import { CONNECTIONS, PUBLISH, SYNC_PUBLISH } from './requests.ts';
import { milliseconds, type Row } from './row.ts';
import { median } from './statistics.ts';

const REPLICAS = [1, 2, 4];
const RUNS = 3;
const WARM_SECONDS = 2;
const RUN_SECONDS = 2;
const CALLS_IN_RUN = 300;
const LATENCY_RUNS = 5;

/** Measures several processes on one database: the same 64 connections, spread over them. */
export async function replicaRows(generator: LoadGenerator, folder: string, databaseUrl: string): Promise<Row[]> {
  const servers: Server[] = [];
  const rows: Row[] = [];
  for (const count of REPLICAS) {
    while (servers.length < count)
      servers.push(await Server.starling(folder, `replica-${servers.length + 1}`, { databaseUrl }));
    const of = count === 1 ? 'one replica' : `${count} replicas`;
    rows.push(await perSecondRow(generator, servers, `async publish on ${of}`, PUBLISH));
    rows.push(
      await perSecondRow(
        generator,
        servers,
        `executions of one agent, published and waited for on ${of}`,
        SYNC_PUBLISH,
      ),
    );
  }
  await Promise.all(servers.map((server) => server.stop()));
  return rows;
}

async function perSecondRow(
  generator: LoadGenerator,
  servers: readonly Server[],
  work: string,
  requests: LoadRequest[],
): Promise<Row> {
  const run = (seconds: number): Promise<Measured> =>
    generator.run({ url: servers.map(({ url }) => url), requests, connections: CONNECTIONS, until: { seconds } });
  await run(WARM_SECONDS);
  const runs: Measured[] = [];
  for (let count = 0; count < RUNS; count += 1) runs.push(await run(RUN_SECONDS));
  const measured = `p50 ${milliseconds(median(runs.map(({ p50 }) => p50)))}, p99 ${milliseconds(median(runs.map(({ p99 }) => p99)))}`;
  return {
    work,
    value: median(runs.map(({ requestsPerSecond }) => requestsPerSecond)),
    atLeast: null,
    aim: null,
    better: 'higher',
    unit: '/s',
    measured,
    baseline: '',
  };
}

/**
 * Measures one caller that waits for one agent: in the process that it asks, and in another one, which has to be woken
 * and to wake it.
 */
export async function latencyRows(generator: LoadGenerator, folder: string, databaseUrl: string): Promise<Row[]> {
  const alone = await Server.starling(folder, 'alone', { databaseUrl });
  const here = await callAlone(generator, alone);
  await alone.stop();
  const asked = await Server.starling(folder, 'asked', { databaseUrl, options: ['--no-worker'] });
  const worker = await Server.starling(folder, 'worker', { databaseUrl, command: 'worker' });
  const across = await callAlone(generator, asked);
  await Promise.all([asked.stop(), worker.stop()]);

  const row = (work: string, value: number, atLeast: number | null): Row => ({
    work: `sync publish, one caller, ${work}`,
    value,
    atLeast,
    aim: null,
    better: 'lower',
    unit: ' ms',
    measured: `${LATENCY_RUNS} x ${CALLS_IN_RUN} calls`,
    baseline: '',
  });
  return [
    row('on one replica: p50', here.p50, null),
    row('on one replica: p99', here.p99, null),
    row('worked by another replica: p50', across.p50, 25),
    row('worked by another replica: p99', across.p99, null),
  ];
}

async function callAlone(generator: LoadGenerator, { url }: Server): Promise<{ p50: number; p99: number }> {
  const call = (): Promise<Measured> =>
    generator.run({ url, requests: SYNC_PUBLISH, connections: 1, until: { requests: CALLS_IN_RUN } });
  await call();
  const runs: Measured[] = [];
  for (let run = 0; run < LATENCY_RUNS; run += 1) runs.push(await call());
  return { p50: median(runs.map(({ p50 }) => p50)), p99: median(runs.map(({ p99 }) => p99)) };
}
