// Runs the built program as a child process in each role, and checks its output at the start.
import { existsSync } from 'node:fs';
import { join } from 'node:path';

import { welcome } from '../../src/cli/welcome.js';
import { flagOf, settingEntries } from '../../src/config/settings-table.js';
import { load } from '../catalog/loading.js';
import { builtProgram } from '../support/built-program.js';
import { Folder, runProgram } from './run-program.js';

const folder = new Folder();
beforeAll(() => builtProgram(), 180_000);
afterAll(() => folder.remove());

const CONFIG = `
types:
  Order: { schema: { type: object, examples: [{ n: 1 }] } }
agents:
  echo: { consumes: [{ types: [Order] }], publishes: [{ type: Echo }], engine: { kind: expression, expression: '{"n": 1}' } }
`;

describe.each([[['serve', '--no-worker']], [['worker']]])('%j', (args) => {
  test('is refused on SQLite in one line, and creates no file', async () => {
    const database = join(folder.path, `${args.length}.db`);
    const { code, stdout, stderr } = await runProgram([
      ...args,
      '--config',
      folder.write('starling.yaml', CONFIG),
      '--database-url',
      `sqlite:${database}`,
    ]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(
      'database_url: a SQLite file has a single process for all roles; use starling serve without --no-worker, or share a Postgres database\n',
    );
    expect(existsSync(database)).toBe(false);
  });

  test('reports invalid settings first', async () => {
    const { code, stderr } = await runProgram([
      ...args,
      '--config',
      folder.write('starling.yaml', CONFIG),
      '--port',
      'abc',
    ]);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^--port: must be an integer .*\n$/);
  });
});

test('starling worker --help names every setting', async () => {
  const { code, stdout } = await runProgram(['worker', '--help']);
  expect(code).toBe(0);
  for (const [, setting] of settingEntries) expect(stdout).toContain(flagOf(setting));
});

test('each role prints its addresses on the terminal', async () => {
  const { catalog } = await load(CONFIG);
  const url = 'http://127.0.0.1:8344';
  const started = { catalog, url, wildcard: null, dashboard: false };
  const tryIt = expect.stringMatching(/^Try: curl /) as string;
  expect(welcome({ ...started, role: { api: true, worker: true } }).split('\n')).toEqual([
    tryIt,
    `Serving 1 agent at ${url}, documentation at ${url}/docs`,
  ]);
  expect(welcome({ ...started, role: { api: true, worker: false } }).split('\n')).toEqual([
    tryIt,
    `Serving 1 agent, which workers run, at ${url}, documentation at ${url}/docs`,
  ]);
  expect(welcome({ ...started, role: { api: true, worker: true }, dashboard: true }).split('\n')).toEqual([
    tryIt,
    `Serving 1 agent at ${url}, documentation at ${url}/docs, dashboard at ${url}/dashboard`,
  ]);
  expect(welcome({ ...started, role: { api: false, worker: true } })).toBe(
    `Working for 1 agent; health at ${url}/health, metrics at ${url}/metrics`,
  );
});
