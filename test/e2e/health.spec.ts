// Tests the probes of the application while it works and while it stops. The clock is faked, so that the grace period
// lasts until a test ends it.
import { startApp, type TestApp } from '../support/app.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';

const UP = { database: { status: 'up', responseTime: expect.any(Number) }, executor: { status: 'up' } };

const SLOW = `
export default (inputs, { signal }) => new Promise((resolve) => signal.addEventListener('abort', () => resolve(null)));
`;

const CONFIG = `
agents:
  slow:
    consumes: [{ types: [Message] }]
    publishes: [{ type: Never }]
    engine: { kind: function, module: ./slow.js }
`;

const GRACE_MS = 1_000;
const clock = new ManualClock();
let app: TestApp;
beforeAll(
  async () =>
    void (app = await startApp({
      config: CONFIG,
      clock,
      files: { 'slow.js': SLOW },
      settings: { shutdownGraceMs: GRACE_MS },
    })),
);

it('are ok while the service works', async () => {
  for (const path of ['/health', '/health/ready']) {
    const { body, headers } = await app.http.get(path).expect(200);
    expect(body).toEqual({ status: 'ok', info: UP, error: {}, details: UP });
    expect(headers['cache-control']).toContain('no-store');
  }
  await app.http.get('/health/live').expect(200, { status: 'ok', info: {}, error: {}, details: {} });
});

it('say "error" once it stops, while running work has its grace period and the process lives', async () => {
  await app.http.post('/api/v1/artifacts').send({ type: 'Message' }).expect(200);
  await eventually('the agent runs', async () => {
    const { text } = await app.http.get('/metrics');
    return /^starling_queue_wait_seconds_count\{agent="slow",origin="live"\} 1$/m.test(text);
  });
  // This is as at SIGTERM: the port stays open during the grace period.
  const closing = app.close();
  const down = { executor: { status: 'down', message: 'shutting down' } };
  for (const path of ['/health', '/health/ready']) {
    const { status, body, headers } = await app.http.get(path);
    expect([status, headers['retry-after'], body]).toEqual([
      503,
      '1',
      { status: 'error', info: { database: UP.database }, error: down, details: { ...UP, ...down } },
    ]);
  }
  await app.http.get('/health/live').expect(200);
  const refused = await app.http.post('/api/v1/artifacts').send({ type: 'Message' });
  expect([refused.status, Object.keys(refused.body as object), Number(refused.headers['retry-after']) > 0]).toEqual([
    503,
    ['detail'],
    true,
  ]);
  // The grace period may begin only now, for example after a round of claims.
  let hasClosed = false;
  const closed = closing.then(() => (hasClosed = true));
  await eventually('the service has stopped', () => {
    clock.advance(GRACE_MS);
    return hasClosed;
  });
  await closed;
});
