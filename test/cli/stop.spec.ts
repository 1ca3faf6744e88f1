// Runs the built program as a child process on SQLite files: how it stops.
import { once } from 'node:events';
import { connect } from 'node:net';

import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import type { Service } from '../support/service.js';
import { messagesOf, Services, statusOf } from './services.js';

const CONFIG = `
agents:
  echo: { consumes: [{ types: [Order] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: "{'note': payload.note}" } }
  patient: { consumes: [{ types: [Wait] }], publishes: [{ type: Never }], engine: { kind: function, module: ./patient.mjs } }
  careless: { consumes: [{ types: [Fall] }], publishes: [{ type: Never }], engine: { kind: function, module: ./careless.mjs } }
`;

const services = new Services(CONFIG);

beforeAll(async () => {
  await builtProgram();
  // Runs until its signal is aborted, by the timeout or at the end of the grace period.
  services.folder.write(
    'patient.mjs',
    'export default (inputs, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(null)));',
  );
  services.folder.write(
    'careless.mjs',
    'export default async () => { void Promise.reject(new Error("nobody waits for me")); return null; };',
  );
});
afterEach(() => services.killAll());
afterAll(() => services.folder.remove());

const publish = (service: Service, type: string, path = '/api/v1/artifacts', headers = {}): Promise<Response> =>
  fetch(service.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Correlation-ID': `c-${type}`, ...headers },
    body: JSON.stringify({ type, payload: { note: 'x' } }),
  });

async function startLongWork(service: Service): Promise<void> {
  expect((await publish(service, 'Wait')).status).toBe(200);
}

const ended = async (service: Service): Promise<number | null> => {
  if (service.process.exitCode === null) await once(service.process, 'exit');
  return service.process.exitCode;
};

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('stops an idle service with 0, and frees its database', async () => {
    const database = services.newDatabase();
    const service = await services.start([], database);
    expect(await service.kill(signal)).toBe(0);
    await eventually('the last line has arrived', () => messagesOf(service).at(-1) === 'stopped');
    await services.start([], database);
  });
});

describe('a graceful stop', () => {
  test('does not wait for connections that are idle or that never send a request', async () => {
    const service = await services.start();
    expect(await statusOf(service, '/health/live')).toBe(200); // fetch keeps its connection open.
    const silent = connect(Number(new URL(service.url).port), '127.0.0.1');
    silent.on('error', () => undefined);
    await once(silent, 'connect');
    expect(await service.kill('SIGTERM')).toBe(0);
    silent.destroy();
  });

  test('answers readiness with 503, accepts no new work during the grace period, then hands running work back', async () => {
    const database = services.newDatabase();
    // All requests below arrive within it, although a busy machine delays them.
    const service = await services.start(['--shutdown-grace', '15s'], database);
    const key = { 'X-Idempotency-Key': 'once' };
    const waiting = publish(service, 'Wait', '/api/v1/artifacts/sync', key);
    const status = (): Promise<object> => service.get('/api/v1/correlations/c-Wait/status');
    await eventually('the work has begun', async () => JSON.stringify(await status()).includes('active'));
    service.process.kill('SIGTERM');
    await eventually('readiness is 503', async () => (await statusOf(service, '/health/ready')) === 503);
    expect(await statusOf(service, '/health/live')).toBe(200);
    expect((await publish(service, 'Order')).status).toBe(503);
    expect(await ended(service)).toBe(0);
    expect(await (await waiting).json()).toMatchObject({ correlation_id: 'c-Wait', completed: false, artifacts: [] });

    const next = await services.start([], database);
    expect(await next.get('/api/v1/correlations/c-Wait/status')).toMatchObject({
      state: 'active',
      has_pending_work: true,
    });
    expect(await next.get('/api/v1/correlations/c-Order/status')).toMatchObject({ state: 'not_found' });

    // The answer that the stop had cut short is not kept.
    const again = publish(next, 'Wait', '/api/v1/artifacts/sync', key);
    await fetch(`${next.url}/api/v1/correlations/c-Wait/cancel`, { method: 'POST' });
    const answer = await again;
    expect(answer.headers.get('x-idempotency-replayed')).toBeNull();
    expect(await answer.json()).toMatchObject({ correlation_id: 'c-Wait', completed: true });
    const { items } = await next.get<{ items: object[] }>('/api/v1/artifacts?type=Wait');
    expect(items).toHaveLength(1);
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('is cut short by a second signal: %s exits immediately with %d', async (second, code) => {
    const service = await services.start(['--shutdown-grace', '1m']);
    await startLongWork(service);
    service.process.kill('SIGTERM');
    await eventually('readiness is 503', async () => (await statusOf(service, '/health/ready')) === 503);
    expect(await service.kill(second)).toBe(code);
  });

  test('is not cut short by the second SIGINT that npm passes on for the same Ctrl-C', async () => {
    const service = await services.start(['--shutdown-grace', '1s']);
    await startLongWork(service);
    service.process.kill('SIGINT');
    service.process.kill('SIGINT');
    expect(await ended(service)).toBe(0);
  });
});

test('an uncaught error is logged and ends the process with 1', async () => {
  const service = await services.start();
  // The answer may or may not arrive before the process ends.
  await publish(service, 'Fall').catch(() => undefined);
  expect(await ended(service)).toBe(1);
  await eventually('the last line has arrived', () => messagesOf(service).includes('unhandled rejection: ending'));
  expect(service.log.join('\n')).toContain('nobody waits for me');
});
