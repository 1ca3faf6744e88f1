import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';

import { builtProgram } from '../support/built-program.js';
import { databaseAt, type TestDatabase } from '../support/database.js';
import { PostgresCluster, queryOnce } from '../support/postgres-cluster.js';
import { printedSeed, Random } from '../support/random.js';
import { aftermath } from './replicas/aftermath.js';
import { LOG_EXECUTIONS } from './replicas/execution-log.js';
import { HistoryRecorder } from './replicas/history-recorder.js';
import { Load } from './replicas/load.js';
import { LoadLedger } from './replicas/load-ledger.js';
import { Observer } from './replicas/observer.js';
import { PageReader } from './replicas/page-reader.js';
import { Replica } from './replicas/replica.js';
import { type Fault, scheduleOf } from './replicas/schedule.js';

const CONFIG = new URL('./warehouse/starling.yaml', import.meta.url).pathname;
const ROUNDS = Number(process.env.STARLING_REPLICA_ROUNDS ?? 1);
const LEASE_MS = 2_000;
/** The folder that keeps the histories of the rounds. Without it, only the history of a round that fails is kept. */
const HISTORIES = process.env.STARLING_HISTORY_FOLDER;
const CHECKER = new URL('../history/check-history.ts', import.meta.url).pathname;

/**
 * Runs three services as processes, HTTP, a separate durable Postgres server, signals and crashes. Nothing is faked.
 */
describe(`three replicas, ${ROUNDS} rounds of faults under load`, () => {
  let cluster: PostgresCluster;
  let replicas: Replica[] = [];

  beforeAll(async () => {
    await builtProgram();
    cluster = await PostgresCluster.start();
  });

  afterEach(async () => {
    await Promise.all(replicas.map((replica) => replica.retire()));
  });

  afterAll(() => cluster?.close());

  const seed = printedSeed();

  // Each round has its own database, processes and seed, so that it can be replayed alone.
  it.each(Array.from({ length: ROUNDS }, (_, round) => seed + round))(
    'lose nothing, duplicate nothing, and leave nothing unfinished (round of STARLING_SEED=%i)',
    async (roundSeed) => {
      const history: string[] = [`STARLING_SEED=${roundSeed} STARLING_REPLICA_ROUNDS=1 replays this round`];
      try {
        await playRound(roundSeed, history);
      } finally {
        console.log(history.join('\n'));
      }
    },
    300_000,
  );

  async function playRound(roundSeed: number, history: string[]): Promise<void> {
    const { flags, faults } = scheduleOf(roundSeed, LEASE_MS);
    const database = await newDatabase(`round_${roundSeed}`);
    replicas = flags.map((flag, index) => {
      const name = `replica ${index}${flag.map((text) => ` (${text})`).join('')}`;
      return new Replica(name, [
        '--config',
        CONFIG,
        '--database-url',
        database.url,
        '--lease',
        `${LEASE_MS}ms`,
        '--log-level',
        'warn',
        ...flag,
      ]);
    });
    await Promise.all(replicas.map((replica) => replica.start()));
    await queryOnce(database.url, LOG_EXECUTIONS);
    const file = join(newFolder(), `history-${roundSeed}.jsonl`);
    history.push(`its history is ${file}`);
    const recorder = new HistoryRecorder(file);
    const observer = new Observer(database, recorder, CONFIG);
    const readers = [2, 3].map((more) => new PageReader(replicas, new Random(roundSeed + more), recorder));
    const ledger = new LoadLedger();
    const load = new Load(replicas, ledger, new Random(roundSeed + 1), recorder);
    const began = performance.now();
    const say = (what: string): void =>
      void history.push(`${String(Math.round(performance.now() - began)).padStart(6)} ms  ${what}`);

    // A replica's next fault waits until its previous one is over; different replicas fail in parallel.
    const ends = new Map<string, Promise<void>>();
    for (const { afterMs, ...fault } of faults) {
      await delay(afterMs);
      const target = 'replica' in fault ? `replica ${fault.replica}` : 'postgres';
      const befallen = (ends.get(target) ?? Promise.resolve()).then(() => {
        say(tell(fault));
        return befall(fault);
      });
      ends.set(
        target,
        befallen.then(() => say(`over: ${tell(fault)}`)),
      );
    }
    await Promise.all(ends.values());
    await delay(500);
    await load.stop();
    say(
      `the load ends: ${ledger.sent.size} requests, ${ledger.open().length} with a key are open, ${ledger.refused} were refused`,
    );

    expect(await aftermath(replicas, database, ledger, recorder, say)).toEqual([]);
    await Promise.all(readers.map((reader) => reader.stop()));
    await observer.end();
    const { stdout } = await checked(file);
    say(stdout.trim());
    expect(await Promise.all(replicas.map((replica) => replica.end()))).toEqual([0, 0, 0]);
    say('nothing is lost, nothing doubled, nothing unfinished');
    if (HISTORIES === undefined) rmSync(dirname(file), { recursive: true });
  }

  /** Resolves when it is over. */
  async function befall(fault: Fault): Promise<void> {
    switch (fault.do) {
      case 'kill': {
        const replica = replicas[fault.replica]!;
        await replica.kill();
        await delay(fault.downMs);
        return replica.start();
      }
      case 'stop': {
        const replica = replicas[fault.replica]!;
        replica.stop();
        await delay(fault.forMs);
        return replica.resume();
      }
      case 'crash postgres': {
        await cluster.stop('immediate');
        await delay(fault.downMs);
        return void (await cluster.restart());
      }
      case 'end sessions':
        return endSessions(fault.share);
    }
  }

  async function endSessions(share: number): Promise<void> {
    const some = `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'starling' and pid % 100 < $1`;
    // The server may be down now, and then it has no sessions.
    await queryOnce(cluster.url(), some, [Math.ceil(share * 100)]).catch(() => undefined);
  }

  async function newDatabase(name: string): Promise<TestDatabase> {
    await queryOnce(cluster.url(), `create database ${name}`);
    return databaseAt(cluster.url(name));
  }
});

/** Rejects with what the checker says if the history breaks a promise. */
const checked = (file: string): Promise<{ stdout: string }> =>
  promisify(execFile)(process.execPath, [CHECKER, file]).catch((error: { stdout: string; stderr: string }) => {
    throw new Error(`${error.stdout}${error.stderr}`);
  });

function newFolder(): string {
  if (HISTORIES === undefined) return mkdtempSync(join(tmpdir(), 'starling-history-'));
  mkdirSync(HISTORIES, { recursive: true });
  return HISTORIES;
}

const tell = ({ do: what, ...fault }: Fault): string =>
  `${what} ${Object.entries(fault)
    .map(([name, value]) => `${name} ${value}`)
    .join(' ')}`;
