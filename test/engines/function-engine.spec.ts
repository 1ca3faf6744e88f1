import { CatalogError } from '../../src/catalog/diagnostics.js';
import type { PreparedEngine } from '../../src/engines/engine.js';
import { FunctionEngine } from '../../src/engines/function/function.engine.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { ManualClock } from '../support/manual-clock.js';
import { catalogOf, context, inputsOf } from './running.js';

const agentWith = (module: string): string =>
  `agents: { a: { consumes: [{ types: [Ticket] }], engine: { kind: function, module: ${module} } } }`;

describe('function agents, as real modules in a folder', () => {
  let folder: ConfigurationFolder;
  beforeEach(() => {
    folder = new ConfigurationFolder();
    // As in a project of ES modules: without it Node has to guess what a .js file is.
    folder.write('package.json', '{ "type": "module" }');
  });
  afterEach(() => folder.remove());

  async function prepared(module: string, text: string): Promise<PreparedEngine> {
    folder.write(module, text);
    const catalog = await catalogOf(folder, agentWith(module));
    const instanceOf = (): never => {
      throw new Error('there are no classes here');
    };
    const unused = undefined as never; // Function agents use none.
    return new FunctionEngine().prepare(catalog.agent('a')!, {
      baseDirectory: catalog.baseDirectory,
      environment: {},
      catalog,
      expressions: unused,
      shared: unused,
      outbound: unused,
      logger: unused,
      clock: new ManualClock(),
      instanceOf,
    });
  }

  test.each([
    [
      'agents/typed.ts',
      'interface Named { type: string }\nexport default async (inputs: Named[], context: { attempt: number }): Promise<unknown> => ({ types: inputs.map(({ type }: Named) => type), attempt: context.attempt });',
    ],
    [
      'agents/plain.js',
      'export default async (inputs, context) => ({ types: inputs.map(({ type }) => type), attempt: context.attempt });',
    ],
    [
      'agents/plain.mjs',
      'export default (inputs, context) => ({ types: inputs.map(({ type }) => type), attempt: context.attempt });',
    ],
  ])('%s gets the full artifacts and the context', async (module, text) => {
    expect(await (await prepared(module, text)).run(inputsOf({ text: 'hi' }), context())).toEqual({
      types: ['Ticket'],
      attempt: 2,
    });
  });

  test('a module may import its neighbours', async () => {
    folder.write('agents/words.ts', 'export const word: string = "neighbour";');
    const engine = await prepared(
      'agents/neighbour.ts',
      'import { word } from "./words.ts";\nexport default async () => ({ word });',
    );
    expect(await engine.run(inputsOf({}), context())).toEqual({ word: 'neighbour' });
  });

  test.each([
    ['an Error', 'throw new TypeError("no such queue")', 'no such queue'],
    ['an Error without a message', 'throw new RangeError()', 'the agent threw RangeError without a message'],
    ['a text', 'throw "out of ideas"', 'out of ideas'],
    ['nothing', 'throw undefined', 'the agent threw undefined instead of an Error'],
    ['null', 'throw null', 'the agent threw null instead of an Error'],
    ['an object with a message', 'throw { message: "from elsewhere" }', 'from elsewhere'],
    ['an object without one', 'throw { code: 7 }', 'the agent threw {"code":7} instead of an Error'],
    [
      'an object that is not JSON',
      'const loop = {}; loop.loop = loop; throw loop',
      'the agent threw a value of type object instead of an Error',
    ],
    ['a symbol', 'throw Symbol("x")', 'the agent threw Symbol(x) instead of an Error'],
  ])('one that throws %s fails with a message', async (what, statement, message) => {
    const engine = await prepared(`${what.replaceAll(' ', '-')}.mjs`, `export default async () => { ${statement}; };`);
    const error = await engine.run(inputsOf({}), context()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(Error);
    expect((error as Error).message).toBe(message);
  });

  test.each<[string, string, string | null, RegExp]>([
    ['does not exist', 'gone.ts', null, /the file .*gone\.ts does not exist$/],
    ['is a folder', 'folder.ts', 'FOLDER', /the file .*folder\.ts does not exist$/],
    [
      'has no default export',
      'named.mjs',
      'export const run = async () => null;',
      /named\.mjs must have a default export of the form async \(inputs, context\) => output$/,
    ],
    [
      'exports no function',
      'object.mjs',
      'export default { run: async () => null };',
      /object\.mjs must have a default export/,
    ],
    [
      'is not JavaScript',
      'broken.mjs',
      'const one = 1;\nexport default async ( => null;',
      /broken\.mjs cannot be loaded: Unexpected token '=>' \(broken\.mjs:2:24\)$/,
    ],
    [
      'imports a package that is not installed',
      'lonely.mjs',
      'import "no-such-package-here";\nexport default async () => null;',
      /lonely\.mjs cannot be loaded: .*no-such-package-here/,
    ],
    [
      'throws when it is imported',
      'angry.mjs',
      'throw new Error("not today");',
      /angry\.mjs cannot be loaded: not today \(angry\.mjs:1:7\)$/,
    ],
  ])('a module that %s is an error', async (_, module, text, message) => {
    if (text === 'FOLDER') folder.write(`${module}/inside.txt`, '');
    else if (text !== null) folder.write(module, text);
    const error = await catalogOf(folder, agentWith(module)).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(CatalogError);
    expect((error as CatalogError).diagnostics).toEqual([
      { path: 'agents.a.engine.module', line: 1, column: 75, message: expect.stringMatching(message) },
    ]);
  });
});
