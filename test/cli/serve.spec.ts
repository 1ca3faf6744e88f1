// Runs the built program as a child process on SQLite files: how it starts, what it prints, how it stops.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';
import { Folder, runProgram } from './run-program.js';

const folder = new Folder();
const services: Service[] = [];

beforeAll(async () => {
  await builtProgram();
  // Runs until its signal is aborted, by the timeout or at the end of the grace period.
  folder.write(
    'patient.mjs',
    'export default (inputs, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(null)));',
  );
  folder.write(
    'careless.mjs',
    'export default async () => { void Promise.reject(new Error("nobody waits for me")); return null; };',
  );
});
afterEach(async () => {
  await Promise.all(services.splice(0).map((service) => service.kill()));
});
afterAll(() => folder.remove());

const CONFIG = `
types:
  Order:
    schema: { type: object, required: [note], properties: { note: { type: string } }, examples: [{ note: "it's urgent" }] }
agents:
  echo: { consumes: [{ types: [Order] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: "{'note': payload.note}" } }
  patient: { consumes: [{ types: [Wait] }], publishes: [{ type: Never }], engine: { kind: function, module: ./patient.mjs } }
  careless: { consumes: [{ types: [Fall] }], publishes: [{ type: Never }], engine: { kind: function, module: ./careless.mjs } }
`;

let databases = 0;
const newDatabase = (): string => `sqlite:${join(folder.path, `${(databases += 1)}.db`)}`;

const startOnce = (args: string[], database: string): Promise<Service> =>
  Service.start(['--config', folder.write('starling.yaml', CONFIG), '--database-url', database, ...args]);

/** Runs until the end of the test. */
async function start(args: string[] = [], database = newDatabase()): Promise<Service> {
  const service = await startOnce(args, database);
  services.push(service);
  return service;
}

const messagesOf = (service: Service): string[] =>
  service.log.filter((line) => line.startsWith('{')).map((line) => (JSON.parse(line) as { msg: string }).msg);

const publish = (service: Service, type: string, path = '/api/v1/artifacts'): Promise<Response> =>
  fetch(service.url + path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Correlation-ID': `c-${type}` },
    body: JSON.stringify({ type, payload: { note: 'x' } }),
  });

const statusOf = async (service: Service, path: string): Promise<number> => (await fetch(service.url + path)).status;

async function startLongWork(service: Service): Promise<void> {
  expect((await publish(service, 'Wait')).status).toBe(200);
}

const ended = async (service: Service): Promise<number | null> => {
  if (service.process.exitCode === null) await once(service.process, 'exit');
  return service.process.exitCode;
};

describe('the start', () => {
  const database = newDatabase();
  let service: Service;
  beforeAll(async () => {
    service = await startOnce([], database);
  });
  afterAll(() => service.kill());

  test('logs JSON lines, and prints the addresses on the terminal', async () => {
    expect(await statusOf(service, '/health')).toBe(200);
    await eventually('the start is logged', () => messagesOf(service).includes('serving'));
    const printed = service.log.filter((line) => !line.startsWith('{'));
    expect(printed).toEqual([
      expect.stringMatching(/^Try: curl /),
      `Serving 3 agents at ${service.url}, documentation at ${service.url}/docs`,
    ]);
  });

  test('prints a command that works when it is pasted into a shell', async () => {
    await eventually('the command is shown', () => service.log.some((line) => line.startsWith('Try: ')));
    const command = service.log.find((line) => line.startsWith('Try: '))!.slice('Try: '.length);
    const { stdout } = await promisify(execFile)('sh', ['-c', command]);
    expect(JSON.parse(stdout)).toMatchObject({
      completed: true,
      artifacts: [{ type: 'Echo', payload: { note: "it's urgent" } }],
    });
  });

  test('on a database that another process has open is refused in one line', async () => {
    const second = await runProgram([
      'serve',
      '--port',
      '0',
      '--config',
      join(folder.path, 'starling.yaml'),
      '--database-url',
      database,
    ]);
    expect(second).toMatchObject({ code: 1, stdout: '' });
    expect(second.stderr).toMatch(/^database_url: .* is in use by another starling process;.*\n$/);
  });

  test('on a port that is taken is refused in one line', async () => {
    const { port } = new URL(service.url);
    const second = await runProgram([
      'serve',
      '--port',
      port,
      '--config',
      join(folder.path, 'starling.yaml'),
      '--database-url',
      newDatabase(),
    ]);
    expect(second).toEqual({
      code: 1,
      stdout: '',
      stderr: `port: ${port} on 127.0.0.1 is in use by another program; stop it, or choose another port with --port\n`,
    });
  });

  test('on an address of another machine is refused in one line', async () => {
    const refused = await runProgram([
      'serve',
      '--host',
      '192.0.2.1',
      '--port',
      '0',
      '--config',
      join(folder.path, 'starling.yaml'),
      '--database-url',
      newDatabase(),
    ]);
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: 'host: 192.0.2.1 is not an address of this machine; choose another with --host\n',
    });
  });

  test.each([
    [
      'http://169.254.169.254/hunter2',
      'not point to 169.254.169.254: link-local, metadata and unusable addresses are never called',
    ],
    ['http://user:hunter2@example.com/', 'not contain a user or a password'],
  ])('with a webhook_url that cannot be used is refused in one line: %s', async (url, rule) => {
    const refused = await runProgram([
      'serve',
      '--webhook-url',
      url,
      '--port',
      '0',
      '--config',
      join(folder.path, 'starling.yaml'),
      '--database-url',
      newDatabase(),
    ]);
    expect(refused).toEqual({ code: 1, stdout: '', stderr: `webhook_url: must ${rule}\n` });
  });

  test('with other content in the file of the secret key is refused in one line', async () => {
    const other = newDatabase();
    const file = `${other.slice('sqlite:'.length)}.key`;
    writeFileSync(file, 'hunter2\n');
    const refused = await runProgram([
      'serve',
      '--port',
      '0',
      '--config',
      join(folder.path, 'starling.yaml'),
      '--database-url',
      other,
    ]);
    expect(refused).toEqual({
      code: 1,
      stdout: '',
      stderr: `secret_key: ${file} must hold 64 hexadecimal digits; restore the original file, or set STARLING_SECRET_KEY to the key\n`,
    });
  });

  test('bound beyond loopback warns that there is no authentication, and names the bound address', async () => {
    const open = await start(['--host', '0.0.0.0']);
    const { port } = new URL(open.url);
    await eventually('the warning is logged', () =>
      messagesOf(open).some((message) =>
        message.startsWith(`host: bound to 0.0.0.0:${port} without allowed_hosts and without authentication`),
      ),
    );
    expect(open.log.find((line) => line.startsWith('Serving'))).toBe(
      `Serving 3 agents at http://localhost:${port} (bound to 0.0.0.0:${port}), documentation at http://localhost:${port}/docs`,
    );
  });

  test.each([
    ['with allowed_hosts', ['--host', '0.0.0.0', '--allowed-hosts', 'desk.test']],
    ['on loopback', ['--host', 'localhost']],
  ])('%s prints no warning', async (_what, args) => {
    const service = await start(args);
    await eventually('the start is logged', () => messagesOf(service).includes('serving'));
    expect(messagesOf(service).filter((message) => message.startsWith('host:'))).toEqual([]);
  });

  test('under a name that resolves to loopback checks the hosts as on loopback', async () => {
    const service = await start(['--host', 'localhost']);
    const asked = await promisify(execFile)('curl', [
      '-s',
      '-o',
      '/dev/null',
      '-w',
      '%{http_code}',
      '-H',
      'Host: evil.test',
      `${service.url}/agents`,
    ]);
    expect(asked.stdout).toBe('403');
  });

  test('prints the address of the dashboard, and never a URL that may contain a token', async () => {
    const other = await start(['--dashboard', '--create-ui=true', '--webhook-url', 'http://127.0.0.1:9/hunter2']);
    await eventually('the address is printed', () =>
      other.log.some((line) => line.includes(`dashboard at ${other.url}/dashboard`)),
    );
    expect(await statusOf(other, '/dashboard')).toBe(200);
    expect(other.log.join('\n')).not.toContain('hunter2');
  });
});

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  test('stops an idle service with 0, and frees its database', async () => {
    const database = newDatabase();
    const service = await start([], database);
    expect(await service.kill(signal)).toBe(0);
    await eventually('the last line has arrived', () => messagesOf(service).at(-1) === 'stopped');
    await start([], database);
  });
});

describe('a graceful stop', () => {
  test('does not wait for connections that are idle or that never send a request', async () => {
    const service = await start();
    expect(await statusOf(service, '/health/live')).toBe(200); // fetch keeps its connection open.
    const silent = connect(Number(new URL(service.url).port), '127.0.0.1');
    silent.on('error', () => undefined);
    await once(silent, 'connect');
    expect(await service.kill('SIGTERM')).toBe(0);
    silent.destroy();
  });

  test('answers readiness with 503, accepts no new work during the grace period, then hands running work back', async () => {
    const database = newDatabase();
    // All requests below arrive within it, although a busy machine delays them.
    const service = await start(['--shutdown-grace', '15s'], database);
    const waiting = publish(service, 'Wait', '/api/v1/artifacts/sync');
    const status = (): Promise<object> => service.get('/api/v1/correlations/c-Wait/status');
    await eventually('the work has begun', async () => JSON.stringify(await status()).includes('active'));
    service.process.kill('SIGTERM');
    await eventually('readiness is 503', async () => (await statusOf(service, '/health/ready')) === 503);
    expect(await statusOf(service, '/health/live')).toBe(200);
    expect((await publish(service, 'Order')).status).toBe(503);
    expect(await ended(service)).toBe(0);
    expect(await (await waiting).json()).toMatchObject({ correlation_id: 'c-Wait', completed: false, artifacts: [] });

    const next = await start([], database);
    expect(await next.get('/api/v1/correlations/c-Wait/status')).toMatchObject({
      state: 'active',
      has_pending_work: true,
    });
    expect(await next.get('/api/v1/correlations/c-Order/status')).toMatchObject({ state: 'not_found' });
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('is cut short by a second signal: %s exits immediately with %d', async (second, code) => {
    const service = await start(['--shutdown-grace', '1m']);
    await startLongWork(service);
    service.process.kill('SIGTERM');
    await eventually('readiness is 503', async () => (await statusOf(service, '/health/ready')) === 503);
    expect(await service.kill(second)).toBe(code);
  });

  test('is not cut short by the second SIGINT that npm passes on for the same Ctrl-C', async () => {
    const service = await start(['--shutdown-grace', '1s']);
    await startLongWork(service);
    service.process.kill('SIGINT');
    service.process.kill('SIGINT');
    expect(await ended(service)).toBe(0);
  });
});

test('an uncaught error is logged and ends the process with 1', async () => {
  const service = await start();
  // The answer may or may not arrive before the process ends.
  await publish(service, 'Fall').catch(() => undefined);
  expect(await ended(service)).toBe(1);
  await eventually('the last line has arrived', () => messagesOf(service).includes('unhandled rejection: ending'));
  expect(service.log.join('\n')).toContain('nobody waits for me');
});
