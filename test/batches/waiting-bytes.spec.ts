// Uses the application, its database and HTTP. Its agent never finishes, so that rows wait until the batch is
// cancelled.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';

const MIB = 1_024 * 1_024;

const CONFIG = `
types:
  Person: { schema: { type: object, properties: { age: { type: integer } } } }
agents:
  greeter:
    consumes: [{ types: [Person] }]
    publishes: [{ type: Greeting }]
    engine: { kind: function, module: ./never.js }
`;
const NEVER = `export default (_inputs, { signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));`;

let folder: string;
let app: TestApp;

const start = (): Promise<TestApp> =>
  startApp({
    folder,
    config: CONFIG,
    files: { 'never.js': NEVER },
    settings: { maxWaitingBatchBytes: MIB, shutdownGraceMs: 0 },
  });

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'starling-waiting-'));
  app = await start();
});
afterEach(async () => {
  await app.close();
  await app.database.drop();
  await rm(folder, { recursive: true, force: true });
});

interface Answer {
  status: number;
  body: { batch_id: string; detail?: string };
  headers: Record<string, string>;
}

/** Rows that will store 60,000 bytes each. */
const send = (items: number, options: object = {}): Promise<Answer> =>
  app.http.post('/run/batch').send({
    agent_name: 'greeter',
    static_inputs: { note: 'x'.repeat(60_000) },
    batch_inputs: Array.from({ length: items }, () => ({})),
    ...options,
  }) as unknown as Promise<Answer>;

const stored = async (): Promise<{ batches: number; rows: number }> => {
  const [counts] = await app.database.rows<{ batches: number; rows: number }>(
    `select (select count(*) from batches) as batches, (select count(*) from batch_rows) as "rows"`,
  );
  return counts!;
};

async function isRefused(answer: Answer, before: object): Promise<void> {
  expect([answer.status, answer.headers['retry-after'], answer.body]).toEqual([503, '5', { detail: FULL }]);
  expect(await stored()).toEqual(before);
}

const FULL =
  'With this batch, waiting rows would store more than 1MiB (max_waiting_batch_bytes); try again when some rows have run';

it('a batch is refused while the waiting rows will store too much, and accepted when they are cancelled', async () => {
  const first = await send(12, { parallel: false });
  expect(first.status).toBe(200);
  await isRefused(await send(12, { parallel: false }), { batches: 1, rows: 12 });
  await app.http.post(`/batch/${first.body.batch_id}/cancel`);
  expect((await send(12, { parallel: false })).status).toBe(200);
});

it('rows that have become runs no longer count as waiting', async () => {
  expect((await send(9, { max_workers: 9 })).status).toBe(200);
  await eventually('all rows are runs', async () => (await app.database.rows('select 1 from runs')).length === 9);
  expect((await send(16)).status).toBe(200);
});

it('the waiting bytes are counted from the database after a restart', async () => {
  expect((await send(12, { parallel: false })).status).toBe(200);
  await app.close();
  app = await start();
  await isRefused(await send(12), { batches: 1, rows: 12 });
});

it('a batch that alone would store too much is refused for good, and takes no space', async () => {
  const { status, body } = await send(20);
  expect([status, body.detail]).toEqual([
    400,
    'batch_inputs: the rows would store more than 1MiB (max_waiting_batch_bytes); send several batches, one after the other',
  ]);
  expect(await stored()).toEqual({ batches: 0, rows: 0 });
  expect((await send(17)).status).toBe(200);
});

it('a retry of failed items is refused as a batch is', async () => {
  const failing = await send(12, { batch_inputs: Array.from({ length: 12 }, () => ({ age: 'none' })) });
  const { batch_id: id } = failing.body;
  await eventually(
    'every item has failed',
    async () => ((await app.http.get(`/batch/${id}`)).body as { status: string }).status === 'failed',
  );
  const waiting = await send(12, { parallel: false });
  await isRefused((await app.http.post(`/batch/${id}/retry-failed`)) as unknown as Answer, { batches: 2, rows: 24 });
  await app.http.post(`/batch/${waiting.body.batch_id}/cancel`);
  expect((await app.http.post(`/batch/${id}/retry-failed`)).status).toBe(200);
});
