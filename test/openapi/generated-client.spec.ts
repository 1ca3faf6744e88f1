// Uses the application over HTTP, and a client that a generator from npm makes of its OpenAPI document, compiled and
// run separately.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { startApp, type TestApp } from '../support/app.js';
import { ROUND_TRIP } from './round-trip-program.js';

const MODULES = resolve(import.meta.dirname, '../../node_modules');

const CONFIG = `
types:
  CustomerMessage: { version: 3, schema: { type: object, required: [text], properties: { text: { type: string } } } }
agents:
  classifier:
    consumes: [{ types: [CustomerMessage] }]
    publishes: [{ type: Intent }]
    engine: { kind: expression, expression: '{"length": payload.text.size()}' }
`;

const COMPILER = {
  extends: resolve(MODULES, '../tsconfig.json'),
  // Generated for browsers too: its types are those of the DOM.
  compilerOptions: {
    noEmit: false,
    allowImportingTsExtensions: false,
    rootDir: '.',
    outDir: 'out',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: ['node'],
    typeRoots: [join(MODULES, '@types')],
  },
  include: ['client', 'round-trip.ts'],
  exclude: [],
};

let app: TestApp;
let folder: string;
beforeAll(async () => {
  app = await startApp({ config: CONFIG });
  folder = await mkdtemp(join(tmpdir(), 'starling-client-'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(COMPILER));
  await writeFile(join(folder, 'round-trip.ts'), ROUND_TRIP);
  await writeFile(join(folder, 'openapi.json'), (await app.http.get('/openapi.json').expect(200)).text);
});
afterAll(async () => {
  await app.close();
  await rm(folder, { recursive: true });
});

/** Returns the output of a Node program; if it fails, the error contains the output. */
async function run(program: string, ...args: string[]): Promise<string> {
  const env = { ...process.env, NODE_OPTIONS: '' };
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...args], { cwd: folder, env }).catch(
    (failed: { stdout: string; stderr: string }) => {
      throw new Error(`${program} failed:\n${failed.stdout}\n${failed.stderr}`);
    },
  );
  return stdout;
}

it('a generated client compiles under the strictest settings, and makes a round trip', async () => {
  await run(
    join(MODULES, '@hey-api/openapi-ts/bin/run.js'),
    '--input',
    'openapi.json',
    '--output',
    'client',
    '--no-log-file',
  );
  await run(join(MODULES, 'typescript/bin/tsc'), '--project', '.');
  expect(JSON.parse(await run('out/round-trip.js', app.url))).toEqual({
    accepted: 'accepted',
    correlation: 'order-1',
    sync: { completed: true, intent: { length: 11 }, producer: 'classifier' },
    list: {
      types: ['Intent', 'CustomerMessage', 'Intent', 'CustomerMessage'],
      total: 4,
      consumers: ['classifier'],
      allowed: ['classifier'],
    },
    got: { text: 'hello' },
    summary: { total: 1, tags: { vip: 1 }, kinds: { Private: 1 } },
    agents: [['classifier', 'all', ['Intent']]],
    run: [{ length: 1 }],
    history: 3,
    status: ['completed', false, 4],
    types: expect.arrayContaining([
      ['CustomerMessage', 3],
      ['Intent', 1],
    ]),
    health: 'ok',
    refused: [400, 'Unknown artifact type: CustomerMesage; did you mean CustomerMessage?'],
    missing: [404, 'Agent not found: unknown'],
  });
});
