// npm run bench:compare -- <sqlite|postgres> <folder>...: sends the most frequent requests to this build and to those in
// other checkouts (built, with their own node_modules). Each is compared with the last one. A second server of the last
// one shows how far equal builds differ here.
import { basename, resolve } from 'node:path';

import { PostgresCluster, queryOnce } from '../test/support/postgres-cluster.ts';
import { LoadGenerator, Server } from './children.ts';
import type { LoadRequest } from './load.ts';
import { SETTINGS } from './postgres.ts';
import { report } from './report.ts';
import { artifactsById, CHAIN, CONNECTIONS, LIST, PUBLISH, REPLAY, SYNC_PUBLISH } from './requests.ts';
import { milliseconds, perSecond, printCells } from './row.ts';
import { mean, median } from './statistics.ts';
import { inWorkspace } from './workspace.ts';

const ROUNDS = 9;
const WARM_SECONDS = 2;
/** The servers take short turns, because the speed of a shared machine changes within seconds. */
const TURNS_IN_ROUND = 8;
const TURN_SECONDS = 0.5;
const CHAINS_IN_TURN = 25;
/** How much worse than the last build a row may be, unless that build differs by more from itself. */
const TOLERATED = 0.05;

interface Build {
  name: string;
  /** The folder of the checkout; undefined stands for this one. */
  checkout?: string;
}

interface Work {
  name: string;
  requestsFor: (server: Server) => Promise<LoadRequest[]> | LoadRequest[];
  connections: number;
  unit: 'per second' | 'p50';
}

const WORKS: readonly Work[] = [
  { name: 'async publish', requestsFor: () => PUBLISH, connections: CONNECTIONS, unit: 'per second' },
  { name: 'idempotent replay', requestsFor: () => REPLAY, connections: CONNECTIONS, unit: 'per second' },
  {
    name: 'artifact by id',
    requestsFor: ({ url }) => artifactsById(url),
    connections: CONNECTIONS,
    unit: 'per second',
  },
  { name: 'list of 50', requestsFor: () => LIST, connections: CONNECTIONS, unit: 'per second' },
  { name: 'sync publish', requestsFor: () => SYNC_PUBLISH, connections: CONNECTIONS, unit: 'per second' },
  { name: 'three agents in a chain, one caller: p50', requestsFor: () => CHAIN, connections: 1, unit: 'p50' },
];

await inWorkspace(compare);

async function compare(folder: string): Promise<void> {
  const [database, ...others] = process.argv.slice(2);
  if (!['sqlite', 'postgres'].includes(database ?? '') || others.length === 0)
    throw new Error('usage: npm run bench:compare -- <sqlite|postgres> <folder of another build>...');
  const cluster = database === 'postgres' ? await PostgresCluster.start(SETTINGS) : undefined;
  const builds = buildsOf(others);
  const generator = new LoadGenerator();
  const rounds: number[][][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    report(`${database}: round ${round + 1} of ${ROUNDS}`);
    rounds.push(
      await measureRound(generator, round, builds, ({ name, checkout }) =>
        serve(folder, `${name.replaceAll(' ', '-')}-${round}`, checkout, cluster),
      ),
    );
  }
  console.log(`On ${database}, medians of ${ROUNDS} rounds, each with ${builds.length} new processes:\n`);
  printCells([
    ['work', ...builds.map(({ name }) => name), ...comparedNames(builds)],
    ...WORKS.map((work, index) =>
      rowOf(
        work,
        builds,
        rounds.map((figures) => figures[index]!),
      ),
    ),
  ]);
  console.log(`\nThe load generator was busy for at most ${Math.round(generator.busiest * 100)} % of a core.`);
  await cluster?.close();
}

function buildsOf(folders: readonly string[]): Build[] {
  const others = folders.map((folder) => ({ name: basename(resolve(folder)), checkout: resolve(folder) }));
  const last = others.at(-1)!;
  return [{ name: 'here' }, ...others, { name: `${last.name} again`, checkout: last.checkout }];
}

async function serve(
  folder: string,
  name: string,
  checkout: string | undefined,
  cluster: PostgresCluster | undefined,
): Promise<Server> {
  if (cluster) await queryOnce(cluster.url(), `create database "${name}"`);
  return Server.starling(folder, name, { databaseUrl: cluster?.url(name), checkout });
}

/**
 * Measures all rows, by server, in the order of the builds. Equal programs in two processes differ by up to a third for
 * as long as they run, and a process may be quicker or slower because it started later: so each round has new processes,
 * and starts with another one.
 */
async function measureRound(
  generator: LoadGenerator,
  round: number,
  builds: readonly Build[],
  start: (build: Build) => Promise<Server>,
): Promise<number[][]> {
  const order = builds.map((_, step) => (round + step) % builds.length);
  const servers: Server[] = [];
  for (const index of order) servers[index] = await start(builds[index]!);
  const figures: number[][] = [];
  for (const work of WORKS) figures.push(await measureOne(generator, work, servers, order));
  await Promise.all(servers.map((server) => server.stop()));
  return figures;
}

async function measureOne(
  generator: LoadGenerator,
  work: Work,
  servers: readonly Server[],
  order: readonly number[],
): Promise<number[]> {
  const requests = await Promise.all(servers.map((server) => work.requestsFor(server)));
  const measure = async (index: number, until: { seconds: number } | { requests: number }): Promise<number> => {
    const measured = await generator.run({
      url: servers[index]!.url,
      requests: requests[index]!,
      connections: work.connections,
      until,
    });
    return work.unit === 'p50' ? measured.p50 : measured.requestsPerSecond;
  };
  const until = work.unit === 'p50' ? { requests: CHAINS_IN_TURN } : { seconds: TURN_SECONDS };
  for (const index of order) await measure(index, { seconds: WARM_SECONDS });
  const figures: number[][] = servers.map(() => []);
  for (let turn = 0; turn < TURNS_IN_ROUND; turn += 1) {
    for (const index of turn % 2 === 0 ? order : order.toReversed()) figures[index]!.push(await measure(index, until));
  }
  return figures.map(mean);
}

/** The last two builds are equal: every other one is compared with the first of them. */
function comparedNames(builds: readonly Build[]): string[] {
  const reference = builds.at(-2)!.name;
  return [...builds.slice(0, -2), builds.at(-1)!].map(({ name }) => `${name} / ${reference}`);
}

function rowOf(work: Work, builds: readonly Build[], rounds: readonly number[][]): string[] {
  const medians = builds.map((_, index) => median(rounds.map((figures) => figures[index]!)));
  return [
    work.name,
    ...medians.map(work.unit === 'p50' ? milliseconds : perSecond),
    ...verdicts(work, rounds, medians),
  ];
}

/** Ratios of speed: 1 is equal, less is slower. */
function verdicts({ unit }: Work, rounds: readonly number[][], medians: readonly number[]): string[] {
  const speed = (here: number, there: number): number => (unit === 'p50' ? there / here : here / there);
  const reference = medians.at(-2)!;
  const itself = median(rounds.map((figures) => Math.abs(1 - speed(figures.at(-1)!, figures.at(-2)!))));
  const tolerated = Math.max(TOLERATED, itself);
  return [
    ...medians.slice(0, -2).map((figure) => {
      const ratio = speed(figure, reference);
      return `${ratio.toFixed(3)} ${ratio >= 1 - tolerated ? 'met' : 'MISSED'}`;
    }),
    `${speed(medians.at(-1)!, reference).toFixed(3)} (rounds differ by ${(itself * 100).toFixed(1)} %)`,
  ];
}
