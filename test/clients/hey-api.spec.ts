// Installs the generator @hey-api/openapi-ts from npm. It makes clients of the OpenAPI documents of running
// applications; each is compiled, and a program that uses it sends and reads artifacts over HTTP.
import { join } from 'node:path';

import { startApp, type TestApp } from '../support/app.js';
import { ROUND_TRIP } from './round-trip-program.js';
import { MODULES, ToolFolder } from './tool-folder.js';
import { HEY_API_PROGRAM } from './typescript-programs.js';

const GENERATOR = '@hey-api/openapi-ts@0.99.0';

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
  extends: join(MODULES, '../tsconfig.json'),
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
  include: ['client', 'program.ts'],
  exclude: [],
};

let folder: ToolFolder;
let app: TestApp;
beforeAll(async () => {
  folder = new ToolFolder();
  folder.write('package.json', '{ "type": "module" }');
  folder.write('tsconfig.json', JSON.stringify(COMPILER));
  // It uses the compiler of this project.
  await folder.run('ln', ['-s', MODULES, 'node_modules']);
  await folder.run('npm', ['install', '--prefix', 'tools', '--legacy-peer-deps', '--no-audit', '--no-fund', GENERATOR]);
});
afterAll(() => folder.remove());
afterEach(() => app.close());

/** Makes a client of the application's document and compiles it with the program. Resolves with what the program prints. */
async function printedBy(program: string, ...args: string[]): Promise<unknown> {
  folder.write('openapi.json', (await app.http.get('/openapi.json').expect(200)).text);
  folder.write('program.ts', program);
  const generator = 'tools/node_modules/@hey-api/openapi-ts/bin/run.js';
  const wanted = ['--input', 'openapi.json', '--output', 'client', '--no-log-file'];
  await folder.run(process.execPath, [generator, ...wanted]);
  await folder.runModule('typescript/bin/tsc', '--project', '.');
  return JSON.parse(await folder.run(process.execPath, ['out/program.js', app.url, ...args]));
}

describe('a TypeScript client of @hey-api/openapi-ts', () => {
  it('has the types of payloads', async () => {
    app = await startApp({ configFile: 'examples/support-desk/starling.yaml' });
    const text = 'When will I get my card?';
    expect(await printedBy(HEY_API_PROGRAM, text)).toEqual({ text, queue: 'cards', produced_by: 'external' });
  });

  it('compiles under the strictest settings, and makes a round trip', async () => {
    app = await startApp({ config: CONFIG });
    expect(await printedBy(ROUND_TRIP)).toEqual({
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
});
