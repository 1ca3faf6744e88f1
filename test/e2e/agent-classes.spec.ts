import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

import { builtProgram } from '../support/built-program.js';
import { databaseOf, type TestDatabase } from '../support/database.js';

const file = (path: string): string => pathToFileURL(resolve(import.meta.dirname, '../..', path)).href;
const NEST = pathToFileURL(createRequire(import.meta.url).resolve('@nestjs/common')).href;
const NEST_CORE = pathToFileURL(createRequire(import.meta.url).resolve('@nestjs/core')).href;

/**
 * A team's own modules: an agent class that injects a provider of another module, and a controller. Decorators are called as
 * functions, so that no compiler is needed.
 */
const MODULES = `
import { Controller, Get, Inject, Module, NotFoundException, RequestMethod } from '${NEST}';
import { ModuleRef } from '${NEST_CORE}';
import { Agent } from '${file('bin/library.js')}';

class Prices {
  of(product) {
    if (product !== 'Lamp') throw new Error('there is no price for ' + product);
    return 39.5;
  }
}
class PricesController {
  constructor(modules) { this.modules = modules; }
  list() { return { Lamp: this.modules.get(Prices).of('Lamp') }; }
  missing() { throw new NotFoundException('there is no price for it'); }
}
const route = (name, path) => Get(path)(PricesController.prototype, name, Object.getOwnPropertyDescriptor(PricesController.prototype, name));
route('list', '/');
route('missing', '/missing');
Inject(ModuleRef)(PricesController, undefined, 0);
Controller('prices')(PricesController);
export class PricesModule {
  configure(consumer) {
    consumer.apply((request, response, next) => next()).forRoutes({ path: '{*path}', method: RequestMethod.ALL });
  }
}
Module({ providers: [Prices], controllers: [PricesController], exports: [Prices] })(PricesModule);

export class Quoter {
  constructor(prices) { this.prices = prices; }
  async execute([inquiry]) { return { price: this.prices.of(inquiry.payload.product) }; }
}
Inject(Prices)(Quoter, undefined, 0);
Agent({ name: 'quoter', consumes: [{ types: ['Inquiry'] }], publishes: [{ type: 'Quote' }], retry: { attempts: 1 } })(Quoter);
`;

const PROGRAM = `
import { serve } from '${file('bin/library.js')}';
import { PricesModule, Quoter } from './modules.mjs';
await serve({ config: 'starling.yaml', flags: { port: '0' }, agents: [Quoter], imports: process.env.WITHOUT_PRICES ? [] : [PricesModule] });
`;

const TEST = `
import { startTestKit } from '${file('bin/testing.js')}';
import { PricesModule, Quoter } from './modules.mjs';
const kit = await startTestKit({ types: { Inquiry: {}, Quote: {} } }, { agents: [Quoter], imports: [PricesModule] });
const { artifacts } = await kit.publish('Inquiry', { product: 'Lamp' });
await kit.close();
console.log(JSON.stringify(artifacts.map(({ type, payload }) => ({ type, payload }))));
`;

// Uses the built package in a separate program, Nest's injection, HTTP and a database. Nothing is faked.
describe("agent classes in a team's own program", () => {
  let folder: string;
  let database: TestDatabase;
  let child: ChildProcess;

  beforeAll(async () => {
    await builtProgram();
    folder = await mkdtemp(join(tmpdir(), 'starling-team-'));
    database = await databaseOf(folder);
    await writeFile(join(folder, 'modules.mjs'), MODULES);
    await writeFile(join(folder, 'main.mjs'), PROGRAM);
    await writeFile(join(folder, 'test.mjs'), TEST);
    await writeFile(
      join(folder, 'starling.yaml'),
      'types: { Quote: { schema: { required: [price], properties: { price: { type: number } } } } }\n',
    );
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  afterEach(() => {
    child.kill('SIGKILL');
  });

  const run = (env: Record<string, string> = {}): ChildProcess =>
    spawn(process.execPath, ['main.mjs'], {
      cwd: folder,
      env: { PATH: process.env.PATH, DATABASE_URL: database.url, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });

  async function outputUntil(pattern: RegExp): Promise<RegExpExecArray> {
    const seen: string[] = [];
    for await (const line of createInterface({ input: child.stderr! })) {
      seen.push(line);
      const match = pattern.exec(line);
      if (match) return match;
    }
    throw new Error(`the program ended without saying ${pattern}:\n${seen.join('\n')}`);
  }

  it('run like those of the configuration file, with their injected providers', async () => {
    child = run();
    const [url] = await outputUntil(/http:\/\/127\.0\.0\.1:\d+/);
    const publish = async (product: string): Promise<{ type: string; payload: object }[]> => {
      const response = await fetch(`${url}/api/v1/artifacts/sync`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ type: 'Inquiry', payload: { product } }),
      });
      return ((await response.json()) as { artifacts: { type: string; payload: object }[] }).artifacts;
    };

    expect(await publish('Lamp')).toMatchObject([{ type: 'Quote', payload: { price: 39.5 } }]);
    expect(await publish('Sofa')).toMatchObject([
      {
        type: 'WorkflowError',
        payload: { failed_agent: 'quoter', error_message: 'there is no price for Sofa', attempts: 1 },
      },
    ]);
  });

  it('share NestJS with the service: controllers are served, and their exceptions are answers', async () => {
    child = run();
    const [url] = await outputUntil(/http:\/\/127\.0\.0\.1:\d+/);
    const answer = async (path: string): Promise<unknown[]> => {
      const response = await fetch(`${url}/prices${path}`);
      return [response.status, await response.json()];
    };
    expect(await answer('')).toEqual([200, { Lamp: 39.5 }]);
    expect(await answer('/missing')).toEqual([404, { detail: 'there is no price for it' }]);
    expect(await answer('/nope')).toEqual([404, { detail: 'No route for GET /prices/nope; /docs lists them all' }]);
  });

  it('run in the test kit', async () => {
    child = spawn(process.execPath, ['test.mjs'], {
      cwd: folder,
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout! })) lines.push(line);
    const [artifacts] = lines;
    expect(JSON.parse(artifacts ?? 'null')).toEqual(
      expect.arrayContaining([{ type: 'Quote', payload: { price: 39.5 } }]),
    );
  });

  it('fail the start if no module provides what they inject', async () => {
    child = run({ WITHOUT_PRICES: '1' });
    const exited = once(child, 'exit');
    await outputUntil(/Prices/);
    expect(await exited).toEqual([1, null]);
  });
});
