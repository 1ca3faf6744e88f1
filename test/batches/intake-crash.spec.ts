// Real: the built program as a process, its SQLite file, HTTP, SIGKILL.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
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
const ROWS = 200_000;

let folder: string;
let service: Service | undefined;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'starling-intake-'));
  await writeFile(join(folder, 'starling.yaml'), CONFIG);
  await writeFile(join(folder, 'rows.csv'), `id,text\n${Array.from({ length: ROWS }, (_, n) => `${n % 5_000},row ${n}\n`).join('')}`);
});
afterAll(async () => {
  await service?.kill();
  await rm(folder, { recursive: true });
});

it('a process that is killed while it takes rows in leaves none of them after the next start', async () => {
  const random = new Random(printedSeed());
  const database = join(folder, 'starling.db');
  const start = (): Promise<Service> =>
    Service.start(['--config', join(folder, 'starling.yaml'), '--csv-root', folder, '--database-url', `sqlite:${database}`, '--log-level', 'warn']);
  service = await start();
  const body = JSON.stringify({ agent_name: 'greeter', batch_inputs: 'rows.csv', row_key: 'id' });
  const asked = fetch(`${service.url}/run/batch`, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).then(
    ({ status }) => status,
    () => 'cut off',
  );
  const enough = random.between(1, 20_000);
  await eventually(`${enough} rows are in`, () => held(database).batch_rows >= enough);
  await service.kill();
  expect(await asked).toBe('cut off');
  const left = held(database);
  expect([left.batches, left.batch_rows > 0, left.batch_keys > 0]).toEqual([1, true, true]);

  service = await start();
  expect(held(database)).toEqual({ running: 0, batches: 0, batch_rows: 0, batch_keys: 0 });
  expect(await service.kill('SIGTERM')).toBe(0);
}, 120_000);

it('a process that is killed when all rows are in, and before it has forgotten their keys, keeps the batch alone', async () => {
  const database = join(folder, 'whole.db');
  const start = (): Promise<Service> =>
    Service.start(['--config', join(folder, 'starling.yaml'), '--csv-root', folder, '--database-url', `sqlite:${database}`, '--log-level', 'warn']);
  service = await start();
  const body = JSON.stringify({ agent_name: 'greeter', batch_inputs: 'rows.csv', row_key: 'id' });
  void fetch(`${service.url}/run/batch`, { method: 'POST', headers: { 'content-type': 'application/json' }, body }).catch(() => undefined);
  await eventually('the batch has all its rows', () => held(database).running === 1);
  await service.kill();

  service = await start();
  expect(held(database)).toMatchObject({ running: 1, batches: 1, batch_rows: ROWS, batch_keys: 0 });
  await service.kill();
}, 120_000);

function held(path: string): Record<'running' | 'batches' | 'batch_rows' | 'batch_keys', number> {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    const count = (table: string): number => (database.prepare(`select count(*) as n from ${table}`).get() as { n: number }).n;
    return { running: count(`batches where status = 'running'`), batches: count('batches'), batch_rows: count('batch_rows'), batch_keys: count('batch_keys') };
  } finally {
    database.close();
  }
}
