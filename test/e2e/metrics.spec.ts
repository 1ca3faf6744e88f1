// Tests the metrics of the application, across a restart on the same database.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startApp, type TestApp } from '../support/app.js';
import { QUEUED } from '../support/queued-agents.js';

const CONFIG = `
agents:
  echo:
    consumes: [{ types: [Message], where: 'payload.n > 0.0' }]
    publishes: [{ type: Echo }]
    engine: { kind: function, module: ./done.js }
  failing:
    consumes: [{ types: [Wrong] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: 'payload.missing' }
    retry: { attempts: 1 }
`;

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), 'starling-metrics-'))));
afterAll(() => rm(folder, { recursive: true }));

const start = (): Promise<TestApp> => startApp({ config: CONFIG, files: QUEUED, folder });

async function scrape(app: TestApp): Promise<{ text: string; value: (sample: string) => number | undefined }> {
  const { text, headers } = await app.http.get('/metrics').expect(200);
  expect(headers['content-type']).toBe('text/plain; version=0.0.4; charset=utf-8');
  const samples = new Map(
    text
      .split('\n')
      .filter((line) => line && !line.startsWith('#'))
      .map((line) => line.split(/ (?=[^ ]+$)/) as [string, string]),
  );
  return { text, value: (sample) => (samples.has(sample) ? Number(samples.get(sample)) : undefined) };
}

const publish = (app: TestApp, type: string, payload: object) =>
  app.http.post('/api/v1/artifacts/sync').send({ type, payload }).expect(200);

it('answers only the metrics that are named', async () => {
  const app = await start();
  const named = await app.http.get('/metrics?name=starling_queue_depth&name=blackboard_agents_count').expect(200);
  expect(named.text.match(/^# TYPE \w+/gm)).toEqual(['# TYPE starling_queue_depth', '# TYPE blackboard_agents_count']);
  expect(named.text).toContain('blackboard_agents_count 2');
  const process = await app.http.get('/metrics?name=process_resident_memory_bytes').expect(200);
  expect(process.text).toMatch(/^process_resident_memory_bytes \d+$/m);
  for (const name of ['queue_depth', 'toString'])
    await app.http
      .get(`/metrics?name=${name}`)
      .expect(400, { detail: `name: unknown metric ${name}; GET /metrics shows all names` });
  await app.close();
});

it('counts from the database, so that a restart loses nothing', async () => {
  let app = await start();
  await publish(app, 'Message', { n: 1 });
  await publish(app, 'Message', { n: 2 });
  await publish(app, 'Wrong', {});
  const first = await scrape(app);
  // Three published, two echoes, one WorkflowError.
  expect([
    first.value('blackboard_artifacts_total'),
    first.value('blackboard_executions_total'),
    first.value('blackboard_agents_count'),
  ]).toEqual([6, 3, 2]);
  expect(first.text).toContain('# TYPE blackboard_artifacts_total counter');
  expect(first.text).toContain('# TYPE blackboard_executions_total counter');
  expect(first.text).toContain('# TYPE blackboard_agents_count gauge');
  await app.close();

  app = await start();
  await publish(app, 'Message', { n: 3 });
  const second = await scrape(app);
  expect([second.value('blackboard_artifacts_total'), second.value('blackboard_executions_total')]).toEqual([8, 4]);
  await app.close();
});

it('measures requests, executions, waits and the database of this process', async () => {
  const app = await start();
  await publish(app, 'Message', { n: 1 });
  await publish(app, 'Message', { n: 'no number' });
  await publish(app, 'Wrong', {});
  await app.http.get('/api/v1/artifacts/not-an-id').expect(400);
  await app.http.get('/nowhere/at/all').expect(404);
  const { value, text } = await scrape(app);
  const requests = (labels: string) => value(`starling_http_request_duration_seconds_count{${labels}}`);
  expect(requests('method="POST",route="/api/v1/artifacts/sync",status="200"')).toBe(3);
  expect(requests('method="GET",route="/api/v1/artifacts/:artifact_id",status="400"')).toBe(1);
  expect(requests('method="GET",route="unmatched",status="404"')).toBe(1);
  expect(text).not.toContain('nowhere');
  expect(value('starling_execution_duration_seconds_count{agent="echo",origin="live",outcome="completed"}')).toBe(1);
  expect(value('starling_execution_duration_seconds_count{agent="failing",origin="live",outcome="failed"}')).toBe(1);
  expect(value('starling_queue_wait_seconds_count{agent="echo",origin="live"}')).toBe(1);
  expect(value('starling_predicate_failures_total{agent="echo"}')).toBe(1);
  expect(value('starling_queue_depth')).toBe(0);
  expect(value('starling_database_transaction_seconds_count')).toBeGreaterThan(3);
  expect(value('process_resident_memory_bytes')).toBeGreaterThan(1_000_000);
  await app.close();
});

it('has no duplicate sample, even if several applications share a process', async () => {
  const other = await startApp();
  const app = await start();
  const { text } = await scrape(app);
  const samples = text
    .split('\n')
    .filter((line) => line && !line.startsWith('#'))
    .map((line) => line.split(' ')[0]);
  expect(new Set(samples).size).toBe(samples.length);
  expect((await scrape(other)).value('blackboard_artifacts_total')).toBe(0);
  await other.close();
  await app.close();
});
