import { basename, join } from 'node:path';

/** Paths of specs below `test`, by the number of their share, as jest.config.js distributes them. */
declare const TEST_SHARES: readonly (readonly string[])[];

const GLOBALS = ['describe', 'it', 'test', 'beforeAll', 'beforeEach', 'afterEach', 'afterAll'] as const;

type Call = () => void;

/**
 * Loads the specs of the share that the running file is named after. Jest loads every module again for every file that
 * it runs, more than two thousand for each file that starts the service: specs that are loaded together pay that once.
 * Each becomes a separate suite, named after its file, so that its hooks apply only to it.
 */
export async function runShare(): Promise<void> {
  const share = Number(basename(expect.getState().testPath!, '.ts')) - 1;
  for (const spec of TEST_SHARES[share] ?? []) {
    const declarations = await declarationsOf(spec);
    describe(spec, () => declarations.forEach((declare) => declare()));
  }
}

/**
 * Records the declarations of a spec while it is loaded. Loading is asynchronous, and Jest accepts declarations of a
 * suite only synchronously.
 */
async function declarationsOf(spec: string): Promise<Call[]> {
  const declarations: Call[] = [];
  const shared = globalThis as unknown as Record<string, unknown>;
  const real = GLOBALS.map((name) => [name, shared[name]] as const);
  for (const [name, value] of real) shared[name] = recorded(() => value, declarations);
  try {
    await import(join(import.meta.dirname, '..', spec));
  } finally {
    for (const [name, value] of real) shared[name] = value;
  }
  return declarations;
}

/** Replaces a function of Jest, or its result (`test.each(rows)`), and records its calls. */
function recorded(real: () => unknown, calls: Call[]): unknown {
  return new Proxy(() => undefined, {
    // Jest itself reads symbols of every global.
    get: (_target, name) =>
      typeof name === 'symbol' ? undefined : recorded(() => (real() as Record<string, unknown>)[name], calls),
    apply(_target, _self, args) {
      let result: unknown;
      calls.push(() => void (result = (real() as (...args: unknown[]) => unknown)(...args)));
      return recorded(() => result, calls);
    },
  });
}
