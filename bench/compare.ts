// npm run bench:compare -- <folder> [sqlite|postgres]: sends the most frequent requests to this build and to the one in
// another checkout (built, with its own node_modules). A second server of the other build shows how far equal builds
// differ here.
import { resolve } from 'node:path';

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
const NAMES = ['new', 'old', 'old again'] as const;
/** How much worse than the other build a row may be, unless that build differs by more from itself. */
const TOLERATED = 0.05;

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
  const [other, database = 'sqlite'] = process.argv.slice(2);
  if (other === undefined || !['sqlite', 'postgres'].includes(database))
    throw new Error('usage: npm run bench:compare -- <folder of another build> [sqlite|postgres]');
  const cluster = database === 'postgres' ? await PostgresCluster.start(SETTINGS) : undefined;
  const generator = new LoadGenerator();
  const rounds: number[][][] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    report(`${database}: round ${round + 1} of ${ROUNDS}`);
    rounds.push(
      await measureRound(generator, round, (name) =>
        serve(folder, `${name.replace(' ', '-')}-${round}`, name === 'new' ? undefined : resolve(other), cluster),
      ),
    );
  }
  console.log(`On ${database}, medians of ${ROUNDS} rounds, each with three new processes:\n`);
  printCells([
    ['work', ...NAMES, 'new / old', 'old again / old', ''],
    ...WORKS.map((work, index) =>
      rowOf(
        work,
        rounds.map((figures) => figures[index]!),
      ),
    ),
  ]);
  console.log(`\nThe load generator was busy for at most ${Math.round(generator.busiest * 100)} % of a core.`);
  await cluster?.close();
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
 * Measures all rows, by server, in the order of NAMES. Equal programs in two processes differ by up to a third for as
 * long as they run, and a process may be quicker or slower because it started later: so each round has new processes,
 * and starts with another one.
 */
async function measureRound(
  generator: LoadGenerator,
  round: number,
  start: (name: string) => Promise<Server>,
): Promise<number[][]> {
  const order = NAMES.map((_, step) => (round + step) % NAMES.length);
  const servers: Server[] = [];
  for (const index of order) servers[index] = await start(NAMES[index]!);
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

function rowOf(work: Work, rounds: readonly number[][]): string[] {
  const medians = NAMES.map((_, index) => median(rounds.map((figures) => figures[index]!)));
  return [work.name, ...medians.map(work.unit === 'p50' ? milliseconds : perSecond), ...verdict(work, rounds, medians)];
}

/** Ratios of speed: 1 is equal, less is slower. */
function verdict({ unit }: Work, rounds: readonly number[][], [now, old, again]: readonly number[]): string[] {
  const speed = (here: number, there: number): number => (unit === 'p50' ? there / here : here / there);
  const ratio = speed(now!, old!);
  const itself = median(rounds.map(([, one, two]) => Math.abs(1 - speed(two!, one!))));
  const tolerated = Math.max(TOLERATED, itself);
  return [
    ratio.toFixed(3),
    `${speed(again!, old!).toFixed(3)} (rounds differ by ${(itself * 100).toFixed(1)} %)`,
    ratio >= 1 - tolerated ? 'met' : 'MISSED',
  ];
}
