// Runs the built program as a process, its database, HTTP and SIGKILL.
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { importLeasesRunOut } from '../faults/run-out.js';
import { databaseOf, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { printedSeed, Random } from '../support/random.js';
import { Service } from '../support/service.js';

const CONFIG = `
agents:
  greeter:
    consumes: [{ types: [Person] }]
    publishes: [{ type: Greeting }]
    engine: { kind: expression, expression: '{}' }
`;
const ROWS = 60_000;
/** So many that a busy machine does not delay the kill until all of them are imported. */
const MANY_ROWS = 500_000;

let folder: string;
let service: Service | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'starling-import-'));
  await mkdir(join(folder, 'rows'));
  await writeFile(join(folder, 'starling.yaml'), CONFIG);
  for (const [name, rows] of [
    ['rows.csv', ROWS],
    ['many-rows.csv', MANY_ROWS],
  ] as const)
    await writeFile(
      join(folder, 'rows', name),
      `id,text\n${Array.from({ length: rows }, (_, n) => `${n % 5_000},row ${n}\n`).join('')}`,
    );
});
afterAll(async () => {
  await service?.kill();
  await rm(folder, { recursive: true });
});

const start = ({ url }: TestDatabase): Promise<Service> =>
  Service.start([
    '--config',
    join(folder, 'starling.yaml'),
    '--csv-root',
    join(folder, 'rows'),
    '--database-url',
    url,
    '--lease',
    '2s',
    '--log-level',
    'warn',
  ]);

it('a process that is killed while it imports rows leaves none of them after the next start', async () => {
  const random = new Random(printedSeed());
  const database = await databaseOf(folder);
  service = await start(database);
  const body = JSON.stringify({ agent_name: 'greeter', batch_inputs: 'many-rows.csv', row_key: 'id' });
  const asked = fetch(`${service.url}/run/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  }).then(
    ({ status }) => status,
    () => 'cut off',
  );
  const enough = random.between(1, 10_000);
  await eventually(`${enough} rows are imported`, async () => (await held(database)).batch_rows >= enough);
  await service.kill();
  expect(await asked).toBe('cut off');
  const left = await held(database);
  expect([left.batches, left.batch_rows > 0, left.batch_keys > 0]).toEqual([1, true, true]);
  await importLeasesRunOut(database);

  service = await start(database);
  expect(await held(database)).toEqual({ running: 0, batches: 0, batch_rows: 0, batch_keys: 0 });
  expect(await service.kill('SIGTERM')).toBe(0);
});

it('a process that is killed after the last row, but before it has deleted the row keys, keeps only the batch', async () => {
  const database = await databaseOf(join(folder, 'whole'));
  service = await start(database);
  // One row at a time, so that the batch has not ended when the test looks at it again.
  const body = JSON.stringify({ agent_name: 'greeter', batch_inputs: 'rows.csv', row_key: 'id', parallel: false });
  void fetch(`${service.url}/run/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  }).catch(() => undefined);
  const running = `select 1 from batches where status = 'running'`;
  await eventually('the batch has all its rows', async () => (await database.rows(running)).length === 1);
  await service.kill();

  service = await start(database);
  expect(await held(database)).toMatchObject({ running: 1, batches: 1, batch_rows: ROWS, batch_keys: 0 });
  await service.kill();
});

async function held(
  database: TestDatabase,
): Promise<Record<'running' | 'batches' | 'batch_rows' | 'batch_keys', number>> {
  const count = (table: string): string => `(select count(*) from ${table})`;
  const [counts] = await database.rows<Record<'running' | 'batches' | 'batch_rows' | 'batch_keys', number>>(
    `select ${count(`batches where status = 'running'`)} as running, ${count('batches')} as batches, ${count('batch_rows')} as batch_rows, ${count('batch_keys')} as batch_keys`,
  );
  return counts!;
}
