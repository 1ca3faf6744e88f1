// Runs the built program's client commands as child processes against the built server as another process.
import { execFile } from 'node:child_process';
import { chmodSync, globSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';

import type { Command } from 'commander';

import { buildProgram } from '../../src/cli/program.js';
import { builtProgram } from '../support/built-program.js';
import { eventually } from '../support/eventually.js';
import { Service } from '../support/service.js';
import { type Ended, Folder, runProgram } from './run-program.js';
import { StartedProgram } from './started-program.js';

const CONFIG = `
types:
  Order: { schema: { type: object, required: [note], properties: { note: { type: string } } } }
agents:
  echo: { consumes: [{ types: [Order] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: "{'note': payload.note}" } }
  broken: { consumes: [{ types: [Bad] }], publishes: [{ type: Never }], retry: { attempts: 1 }, engine: { kind: expression, expression: payload.gone } }
  stuck: { consumes: [{ types: [Wait] }], publishes: [{ type: Never }], engine: { kind: function, module: ./stuck.mjs } }
`;

const folder = new Folder();
let service: Service;
beforeAll(async () => {
  await builtProgram();
  folder.write(
    'stuck.mjs',
    'export default (inputs, { signal }) => new Promise((resolve) => signal.addEventListener("abort", () => resolve(null)));',
  );
  const args = [
    '--config',
    folder.write('starling.yaml', CONFIG),
    '--database-url',
    `sqlite:${join(folder.path, 'a.db')}`,
  ];
  // The clients' variable is not a misspelt setting of the server.
  service = await Service.start(args, { STARLING_URL: 'http://127.0.0.1:1' });
});
afterAll(async () => {
  await service?.kill();
  folder.remove();
});

const starling = (...args: string[]): Promise<Ended> => runProgram(args, { env: { STARLING_URL: service.url } });

/** Parses the output of a command, which is JSON and nothing else. */
async function printed(...args: string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await starling(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout) as Record<string, unknown>;
}

async function piped(input: string, args: string[]): Promise<Record<string, unknown>> {
  const program = await builtProgram();
  const stdout = await new Promise<string>((resolve, reject) => {
    const child = execFile(process.execPath, [program, ...args, '--url', service.url], (error, output) =>
      error ? reject(error) : resolve(output),
    );
    child.stdin!.end(input);
  });
  return JSON.parse(stdout) as Record<string, unknown>;
}

describe('starling publish', () => {
  test('prints the answer, with the correlation id', async () => {
    const { status, correlation_id: id } = await printed('publish', 'Order', '{"note":"hi"}');
    expect(status).toBe('accepted');
    expect(await service.get(`/api/v1/correlations/${String(id)}/status`)).not.toMatchObject({ state: 'not_found' });
  });

  test('--wait prints the artifacts that agents made', async () => {
    const answer = await printed(
      'publish',
      'Order',
      '{"note":"hi"}',
      '--wait',
      '--correlation-id',
      'c-wait',
      '--tag',
      'a',
      '--tag',
      'b c',
    );
    expect(answer).toMatchObject({
      correlation_id: 'c-wait',
      completed: true,
      artifacts: [{ type: 'Echo', payload: { note: 'hi' } }],
    });
    expect(await service.get('/api/v1/artifacts?correlation_id=c-wait&type=Order')).toMatchObject({
      items: [{ tags: ['a', 'b c'] }],
    });
  });

  test('--timeout limits the waiting', async () => {
    expect(await printed('publish', 'Wait', '{}', '--wait', '--timeout', '1000ms')).toMatchObject({
      completed: false,
      artifacts: [],
    });
  });

  test('reads the payload from a file, and from standard input', async () => {
    const file = folder.write('order.json', '{"note": "from a file, \u00fcber alles"}');
    expect(await printed('publish', 'Order', `@${file}`, '--wait')).toMatchObject({
      artifacts: [{ payload: { note: 'from a file, \u00fcber alles' } }],
    });
    expect(await piped('{"note": "piped"}', ['publish', 'Order', '-', '--wait'])).toMatchObject({
      artifacts: [{ payload: { note: 'piped' } }],
    });
  });
});

describe('starling run', () => {
  test('prints the completed run', async () => {
    const { code, stdout, stderr } = await starling('run', 'echo', '--inputs', '{"note":"hi"}');
    const run = JSON.parse(stdout) as { run_id: string };
    expect(run).toMatchObject({ status: 'completed', result: { note: 'hi' } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: `Run ${run.run_id}\n` });
  });

  test('prints the id immediately; Ctrl-C stops waiting, and says where to see the run', async () => {
    const program = await StartedProgram.start(['run', 'stuck'], { STARLING_URL: service.url });
    await eventually('the id is printed', () => program.stderr.includes('\n'));
    const [, id] = /^Run (\S+)\n$/.exec(program.stderr)!;
    program.process.kill('SIGINT');
    expect(await program.ended).toBe(130);
    expect(program.stderr.split('\n')[1]).toBe(`The run continues. To see its result: curl ${service.url}/run/${id}`);
    expect(program.stdout).toBe('');
    expect(await service.get(`/run/${id}`)).toMatchObject({
      status: expect.stringMatching(/^(starting|running)$/) as string,
    });
  });

  test('reads the inputs from standard input', async () => {
    expect(await piped('{"note": "piped"}', ['run', 'echo', '--inputs', '-'])).toMatchObject({
      status: 'completed',
      result: { note: 'piped' },
    });
  });

  test('prints a failed run and exits with 1', async () => {
    const { code, stdout } = await starling('run', 'broken');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ status: 'failed', error: expect.stringContaining('broken') as string });
  });

  test('--async prints the id immediately', async () => {
    const { code, stdout } = await starling('run', 'stuck', '--async');
    expect(code).toBe(0);
    expect(await service.get(`/run/${stdout.trim()}`)).toMatchObject({
      run_id: stdout.trim(),
      status: expect.stringMatching(/^(starting|running)$/) as string,
    });
  });
});

describe('one line on standard error, and exit code 1', () => {
  test.each([
    ['a refused payload', ['publish', 'Order', '{"note":1}'], /^payload\.note: must be string$/],
    [
      'a bound that the server checks',
      ['publish', 'Order', '{"note":"x"}', '--wait', '--timeout', '1000'],
      /^timeout: must not be greater than 300$/,
    ],
    ['an unknown agent', ['run', 'nobody'], /^Agent not found: nobody$/],
    ['an unknown batch', ['batch', 'watch', 'nothing'], /^Batch not found: nothing$/],
    ['broken JSON', ['publish', 'Order', '{"note"'], /^json: is not valid JSON: /],
    ['broken inputs', ['run', 'echo', '--inputs', 'note=hi'], /^--inputs: is not valid JSON: /],
    [
      'a missing file',
      ['run', 'echo', '--inputs', '@missing.json'],
      /^--inputs: cannot read missing\.json \(ENOENT\)$/,
    ],
    [
      'a timeout that is neither a duration nor a number',
      ['publish', 'Order', '{}', '--wait', '--timeout', 'soon'],
      /^--timeout: must be a duration such as 30s, or a number of seconds \(got "soon"\)$/,
    ],
    ['a timeout without waiting', ['publish', 'Order', '{}', '--timeout', '3'], /^--timeout: only valid with --wait/],
    ['a malformed address', ['run', 'echo', '--url', 'localhost:8344'], /^--url: must be a URL that begins with http/],
    [
      'a server that does not exist',
      ['run', 'echo', '--url', 'http://127.0.0.1:1'],
      /^the server at http:\/\/127\.0\.0\.1:1 cannot be reached \(ECONNREFUSED\); start it/,
    ],
  ])('for %s', async (_, args, line) => {
    const { code, stdout, stderr } = await starling(...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.replace(/\n$/, '')).toMatch(line);
    expect(stderr.match(/\n/g)).toHaveLength(1);
  });

  test('for a variable that is not an address', async () => {
    const { code, stderr } = await runProgram(['run', 'echo'], { env: { STARLING_URL: 'desk' } });
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'STARLING_URL: must be a URL that begins with http:// or https:// (got "desk")\n',
    });
  });

  test('names the program as the shell finds it', async () => {
    const inShell = new Folder();
    mkdirSync(join(inShell.path, 'node_modules/.bin'), { recursive: true });
    for (const name of ['starling', 'node_modules/.bin/starling']) chmodSync(inShell.write(name, ''), 0o755);
    const said = async (PATH: string): Promise<string> =>
      (await runProgram(['run', 'echo', '--url', 'http://127.0.0.1:1'], { env: { PATH } })).stderr;
    expect(await said(`/nowhere:${inShell.path}`)).toContain('start it with starling serve,');
    expect(await said(join(inShell.path, 'node_modules/.bin'))).toContain('start it with npx starling serve,');
    inShell.remove();
  });

  /** Returns what `run` prints for an address at which another program answers. */
  async function saidOf(listener: RequestListener): Promise<Ended> {
    const other: Server = createServer(listener);
    await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
    const ended = await runProgram(['run', 'echo', '--url', url]);
    other.close();
    return { ...ended, stderr: ended.stderr.replaceAll(url, 'URL') };
  }

  test.each<[string, RequestListener, string]>([
    [
      'a page',
      (_request, response) => response.end('<html>hello</html>'),
      'the program at URL is not a Starling server: it answered "<html>hello</html>"\n',
    ],
    [
      'an error without words',
      (_request, response) => response.writeHead(418).end('teapot'),
      'the server at URL answered 418\n',
    ],
    [
      'a connection that breaks',
      (request) => request.socket.destroy(),
      'the server at URL disconnected before its answer was complete (UND_ERR_SOCKET); check whether it processed the request before you send it again\n',
    ],
  ])('for %s', async (_, listener, stderr) => {
    expect(await saidOf(listener)).toEqual({ code: 1, stdout: '', stderr });
  });
});

test('client commands load no server modules', () => {
  const values = globSync('src/cli/client/**/*.ts').flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^import (?!type )[^;]*? from '(\.[^']+)';$/gm)].map(([, path]) =>
      join(dirname(file), path!),
    ),
  );
  expect(values.length).toBeGreaterThan(0);
  expect(values.filter((path) => !/^src\/(cli\/(client\/|failures\.js)|common\/|config\/)/.test(path))).toEqual([]);
});

test('the documentation names every command, and every option of the client commands', () => {
  const page = readFileSync('docs/command-line.md', 'utf8');
  const all = (command: Command): Command[] => [command, ...command.commands.flatMap(all)];
  const commands = buildProgram().commands.flatMap(all);
  const ofServers = commands.filter(({ options }) => options.some(({ long }) => long === '--url'));
  const names = [
    ...commands.map((command) => command.name()),
    ...ofServers.flatMap(({ options }) => options.map(({ long }) => long!)),
  ];
  expect(names.length).toBeGreaterThan(20);
  expect(names.filter((name) => !page.includes(name))).toEqual([]);
});
