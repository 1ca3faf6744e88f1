// Runs the built program as a child process on SQLite files: how it starts, and what it prints.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { promisify } from 'node:util';

import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import type { Service } from '../support/service.js';
import { runProgram } from './run-program.js';
import { messagesOf, Services, statusOf } from './services.js';

const CONFIG = `
types:
  Order:
    schema: { type: object, required: [note], properties: { note: { type: string } }, examples: [{ note: "it's urgent" }] }
agents:
  echo: { consumes: [{ types: [Order] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: "{'note': payload.note}" } }
`;

const services = new Services(CONFIG);

beforeAll(async () => void (await builtProgram()));
afterEach(() => services.killAll());
afterAll(() => services.folder.remove());

describe('the start', () => {
  // This one runs during all tests.
  const shared = new Services(CONFIG);
  const database = shared.newDatabase();
  let service: Service;
  beforeAll(async () => {
    service = await shared.start([], database);
  });
  afterAll(async () => {
    await shared.killAll();
    shared.folder.remove();
  });

  test('logs JSON lines, and prints the addresses on the terminal', async () => {
    expect(await statusOf(service, '/health')).toBe(200);
    await eventually('the start is logged', () => messagesOf(service).includes('serving'));
    const printed = service.log.filter((line) => !line.startsWith('{'));
    expect(printed).toEqual([
      expect.stringMatching(/^Try: curl /),
      `Serving 1 agent at ${service.url}, documentation at ${service.url}/docs`,
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

  test.each(['/run/%zz', '/api/v1/correlations/%FF/status', '/%'])(
    'says what is wrong with the path %s',
    async (path) => {
      const answer = await fetch(service.url + path);
      expect([answer.status, await answer.json()]).toEqual([
        400,
        { detail: 'The path is not valid percent-encoded UTF-8; encode a literal % as %25' },
      ]);
    },
  );

  test('on a database that another process has open is refused in one line', async () => {
    const second = await runProgram([
      'serve',
      '--port',
      '0',
      '--config',
      services.configFile,
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
      services.configFile,
      '--database-url',
      services.newDatabase(),
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
      services.configFile,
      '--database-url',
      services.newDatabase(),
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
      services.configFile,
      '--database-url',
      services.newDatabase(),
    ]);
    expect(refused).toEqual({ code: 1, stdout: '', stderr: `webhook_url: must ${rule}\n` });
  });

  test('with other content in the file of the secret key is refused in one line', async () => {
    const other = services.newDatabase();
    const file = `${other.slice('sqlite:'.length)}.key`;
    writeFileSync(file, 'hunter2\n');
    const refused = await runProgram([
      'serve',
      '--port',
      '0',
      '--config',
      services.configFile,
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
    const open = await services.start(['--host', '0.0.0.0']);
    const { port } = new URL(open.url);
    await eventually('the warning is logged', () =>
      messagesOf(open).some((message) =>
        message.startsWith(`host: bound to 0.0.0.0:${port} without allowed_hosts and without authentication`),
      ),
    );
    expect(open.log.find((line) => line.startsWith('Serving'))).toBe(
      `Serving 1 agent at http://localhost:${port} (bound to 0.0.0.0:${port}), documentation at http://localhost:${port}/docs`,
    );
  });

  test.each([
    ['with allowed_hosts', ['--host', '0.0.0.0', '--allowed-hosts', 'desk.test']],
    ['on loopback', ['--host', 'localhost']],
  ])('%s prints no warning', async (_what, args) => {
    const service = await services.start(args);
    await eventually('the start is logged', () => messagesOf(service).includes('serving'));
    expect(messagesOf(service).filter((message) => message.startsWith('host:'))).toEqual([]);
  });

  test('under a name that resolves to loopback checks the hosts as on loopback', async () => {
    const service = await services.start(['--host', 'localhost']);
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
    const other = await services.start([
      '--dashboard',
      '--create-ui=true',
      '--webhook-url',
      'http://127.0.0.1:9/hunter2',
    ]);
    await eventually('the address is printed', () =>
      other.log.some((line) => line.includes(`dashboard at ${other.url}/dashboard`)),
    );
    expect(await statusOf(other, '/dashboard')).toBe(200);
    expect(other.log.join('\n')).not.toContain('hunter2');
  });
});
