// Experiments are background work: a caller who waits for an answer must hardly notice one that runs.
import { PostgresCluster, queryOnce } from '../test/support/postgres-cluster.ts';
import { type LoadGenerator, Server } from './children.ts';
import { eventually } from './eventually.ts';
import { SETTINGS } from './postgres.ts';
import { report } from './report.ts';
import { SYNC_PUBLISH } from './requests.ts';
import { milliseconds, type Row } from './row.ts';
import { median } from './statistics.ts';

const RUNS = 5;
const SECONDS_IN_RUN = 5;
const WARM_SECONDS = 2;
/** The largest number, so that the experiment still runs when the caller stops. */
const ROWS = 10_000;

interface Experiment {
  experiment_id: string;
  state: string;
  ended_trials: number;
}

/** Measures one process on a SQLite file, and one on a Postgres server. */
export async function experimentRows(generator: LoadGenerator, folder: string): Promise<Row[]> {
  report('SQLite: a caller beside an experiment');
  const rows = [await besideRow(generator, await Server.starling(folder, 'experiments'), 'SQLite')];
  report('Postgres: a caller beside an experiment');
  const cluster = await PostgresCluster.start(SETTINGS);
  await queryOnce(cluster.url(), 'create database experiments');
  const databaseUrl = cluster.url('experiments');
  const server = await Server.starling(folder, 'postgres-experiments', { databaseUrl });
  rows.push(await besideRow(generator, server, 'Postgres'));
  await cluster.close();
  return rows;
}

/** Measures the p99 of one caller's sync publishes in turn alone and while an experiment runs. Stops the server. */
async function besideRow(generator: LoadGenerator, server: Server, database: string): Promise<Row> {
  const call = async (seconds: number): Promise<number> =>
    (await generator.run({ url: server.url, requests: SYNC_PUBLISH, connections: 1, until: { seconds } })).p99;
  await call(WARM_SECONDS);
  await besideExperiment(server, () => call(WARM_SECONDS));
  const runs: { alone: number; beside: number; trials: number }[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const alone = await call(SECONDS_IN_RUN);
    const { measured: beside, trials } = await besideExperiment(server, () => call(SECONDS_IN_RUN));
    runs.push({ alone, beside, trials });
  }
  await server.stop();
  const alone = median(runs.map((run) => run.alone));
  const beside = median(runs.map((run) => run.beside));
  const trials = median(runs.map((run) => run.trials)) / SECONDS_IN_RUN;
  return {
    work: `sync publish, one caller, beside a running experiment, of the caller alone, on ${database}: p99`,
    value: beside / alone,
    atLeast: 2,
    aim: 1.5,
    better: 'lower',
    unit: '',
    measured: `${milliseconds(beside)}, with ${Math.round(trials)} trials/s`,
    baseline: `alone ${milliseconds(alone)}`,
  };
}

/** Measures while an experiment runs, and cancels it. `trials`: how many of it ended meanwhile. */
async function besideExperiment(
  server: Server,
  measure: () => Promise<number>,
): Promise<{ measured: number; trials: number }> {
  const { experiment_id: id } = await ask<Experiment>(server, '/api/v1/experiments', {
    data: { csv: CSV, agent: 'answerer' },
    expected: { column: 'expected' },
    output: 'Answer',
    variants: [{ name: 'now' }, { name: 'long', overrides: { answerer: { expression: LONG } } }],
    scorers: [{ name: 'right', kind: 'equals', path: '/text' }],
  });
  const path = `/api/v1/experiments/${id}`;
  await eventually(
    'a trial has ended',
    async () => (await ask<Experiment>(server, path)).ended_trials > 0 || undefined,
  );
  const before = await ask<Experiment>(server, path);
  const measured = await measure();
  const after = await ask<Experiment>(server, path);
  if (after.state !== 'running') throw new Error(`the experiment ended while a caller was measured: ${after.state}`);
  await ask(server, `${path}/cancel`, {});
  await eventually('nothing of the experiment is active', async () => {
    const active = await ask<{ items: unknown[] }>(server, '/api/v1/correlations?state=active&replay=true&limit=1');
    return active.items.length === 0 || undefined;
  });
  return { measured, trials: after.ended_trials - before.ended_trials };
}

const LONG = "{'text': 're: ' + payload.text + ' ' + payload.text}";
const textOf = (row: number): string => `Where is parcel ${row}? It was to arrive last week.`;
const CSV = `text,expected\n${Array.from({ length: ROWS }, (_, row) => `${textOf(row)},re: ${textOf(row)}\n`).join('')}`;

async function ask<T>({ url }: Server, path: string, body?: object): Promise<T> {
  const response = await fetch(
    `${url}${path}`,
    body && { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) },
  );
  if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}
