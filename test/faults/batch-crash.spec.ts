import { mkdirSync, readdirSync } from 'node:fs';

import { builtProgram } from '../support/built-program.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import { Service } from '../support/service.js';
import { batchIds, breaches, rowsComingIn, stateOf, unfinished } from './batch-invariants.js';
import { BatchLedger, CSV, CSV_FILE, FIRST_TWIN, type Order, ROWS } from './batch-ledger.js';
import { importLeasesRunOut } from './run-out.js';

const CONFIG = `
types:
  Row: { schema: { type: object, required: [n, batch], properties: { n: { type: integer }, batch: { type: string } } } }
agents:
  clerk:
    consumes: [{ types: [Row] }]
    publishes: [{ type: Done }]
    engine: { kind: expression, expression: '{"n": payload.n, "batch": payload.batch}' }
    concurrency: 64
`;

const ROUNDS = Number(process.env.STARLING_BATCH_CRASH_ROUNDS ?? 3);

/** Runs the built program as a process, its database, HTTP and SIGKILL. Nothing is faked. */
describe(`killed ${ROUNDS} times while batches of ${ROWS} rows are imported and run`, () => {
  const folder = new ConfigurationFolder();
  const uploads = `${folder.path}/uploads`;
  const ledger = new BatchLedger();
  let database: TestDatabase;
  let service: Service;

  beforeAll(async () => {
    await builtProgram();
    folder.write('starling.yaml', CONFIG);
    folder.write(`rows/${CSV_FILE}`, CSV);
    mkdirSync(uploads);
    database = await databaseOf(folder.path);
  });

  afterAll(async () => {
    await service?.kill();
    folder.remove();
  });

  const start = (): Promise<Service> =>
    Service.start(
      [
        '--config',
        `${folder.path}/starling.yaml`,
        '--csv-root',
        `${folder.path}/rows`,
        '--database-url',
        database.url,
        '--lease',
        '2s',
        '--log-level',
        'warn',
      ],
      { TMPDIR: uploads },
    );

  it(
    'loses no row, completes none twice, and leaves no batch half imported',
    async () => {
      const random = new Random(printedSeed());
      const found: Awaited<ReturnType<typeof stateOf>>[] = [];
      for (let round = 1; round <= ROUNDS; round += 1) {
        service = await start();
        expect(await breaches(database, ledger)).toEqual([]);
        await (round % 2 === 1
          ? killAmidImport(service, database, ledger, random)
          : killAmidRuns(service, ledger, random));
        found.push(await stateOf(database));
        await importLeasesRunOut(database);
        expect(readdirSync(uploads)).toEqual([]);
      }

      service = await start();
      expect(await breaches(database, ledger)).toEqual([]);
      // A request whose answer was lost is sent again with its key, and finds the same batch.
      if (ledger.unanswered) expect(await ledger.send(service, ledger.unanswered)).toBe(true);
      await eventually(
        'every batch has finished',
        async () => (await unended(service)).length === 0,
        300_000 + ROUNDS * 3_000,
      );
      expect([...(await breaches(database, ledger)), ...(await unfinished(database))]).toEqual([]);
      for (const [name, id] of await batchIds(database)) await checkResults(service, id, ledger.orders.get(name)!);
      expect(await service.kill('SIGTERM')).toBe(0);
      const halfIn = found.filter(({ isHalfIn }) => isHalfIn).length;
      const amidRuns = found.filter(({ openRuns }) => openRuns > 0).length;
      console.log(
        `${ROUNDS} kills: ${halfIn} with a batch half in, ${amidRuns} with open runs; ${ledger.acknowledged.size} of ${ledger.orders.size} batches acknowledged`,
      );
    },
    300_000 + ROUNDS * 20_000,
  );
});

/**
 * Kills the process after a random number of rows of a batch has arrived and a random delay, at times before the first
 * or after the last row.
 */
async function killAmidImport(
  service: Service,
  database: TestDatabase,
  ledger: BatchLedger,
  random: Random,
): Promise<void> {
  const target = random.between(0, ROWS);
  let isAnswered = false;
  const sent = ledger.send(service, ledger.next(random)).finally(() => (isAnswered = true));
  await eventually('the rows are imported', async () => isAnswered || (await rowsComingIn(database)) >= target);
  await killAfter(service, random.next() * 10);
  await sent;
}

/** Kills the process after a random number of rows of a batch has finished and a random delay. */
async function killAmidRuns(service: Service, ledger: BatchLedger, random: Random): Promise<void> {
  if ((await unended(service)).length === 0) expect(await ledger.send(service, ledger.next(random))).toBe(true);
  const [batch] = await unended(service);
  const done = batch?.completed_items ?? ROWS;
  const target = done + random.between(0, Math.min(ROWS - done, ROWS / 3));
  await eventually('the rows have finished', async () => {
    const same = (await unended(service)).find(({ batch_id }) => batch_id === batch?.batch_id);
    return !same || same.completed_items >= target;
  });
  await killAfter(service, random.next() * 10);
}

async function killAfter(service: Service, ms: number): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, ms));
  await service.kill('SIGKILL');
}

interface Listed {
  batch_id: string;
  completed_items: number;
}

async function unended(service: Service): Promise<Listed[]> {
  const listed = async (status: string): Promise<Listed[]> =>
    (await service.get<{ items: Listed[] }>(`/api/v1/batches?limit=500&status=${status}`)).items;
  // Counts in the order of the states, because in parallel queries a row that starts in between would be in neither.
  const starting = await listed('starting');
  const running = await listed('running');
  return [...starting.filter(({ batch_id }) => running.every((other) => other.batch_id !== batch_id)), ...running];
}

interface Item {
  index: number;
  status: string;
  result: object;
}

/** Checks that the results are complete and in order. */
async function checkResults(service: Service, id: string, { name, hasTwins }: Order): Promise<void> {
  const response = await fetch(`${service.url}/batch/${id}/results`);
  const items = (await response.text())
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Item);
  const row = (index: number): number => (hasTwins ? index % FIRST_TWIN : index);
  const expected = Array.from({ length: ROWS }, (_, index) => ({
    index,
    status: 'completed',
    result: { n: row(index), batch: name },
  }));
  expect(items.map(({ index, status, result }) => ({ index, status, result }))).toEqual(expected);
}
