import { Agent } from '../../src/engines/provider/agent.decorator.js';
import type { TestAppOptions } from '../support/app.js';
import { Board } from './board.js';

const FILES = {
  'lib/prices.mjs': `export function priceOf(product) {
  throw new TypeError('there is no price for ' + product);
}`,
  'agents/quoter.mjs': `import { priceOf } from '../lib/prices.mjs';
export default async function quote([inquiry]) {
  if (globalThis.pricesAreKnown) return { price: 1 };
  try {
    return { price: priceOf(inquiry.payload.product) };
  } catch (error) {
    throw new Error('cannot quote', { cause: error });
  }
}`,
  'agents/deep.mjs': `export default async function dig() {
  let error = new Error('10');
  for (let n = 9; n > 0; n -= 1) error = new Error(n + ' ' + 'x'.repeat(3000), { cause: error });
  error.stack = error.stack.split('\\n')[0] + ('\\n    at dig (' + import.meta.url + ':1:1)').repeat(100);
  throw error;
}`,
  'agents/circle.mjs': `export default async () => {
  const error = new Error('round and round\\n    at fake (/etc/passwd:1:1)');
  error.cause = error;
  throw error;
};`,
  'agents/getters.mjs': `export default async () => {
  throw Object.defineProperties(new Error('read me not'), {
    cause: { get() { throw new Error('not the cause'); } },
    stack: { get() { throw new Error('not the stack'); } },
  });
};`,
  'agents/addresses.mjs': `export default async () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED ::1:1'), { code: 'ECONNREFUSED' });
  const error = Object.assign(new AggregateError([refused]), { code: 'ECONNREFUSED' });
  throw new TypeError('fetch failed', { cause: error });
};`,
  'agents/text.mjs': `export default async () => { throw new Error('because', { cause: 'of the weather' }); };`,
  'agents/silent.mjs': `export default async function hush() { throw new RangeError(); }`,
};

const agent = (type: string, module: string, attempts = 1): string =>
  `{ consumes: [{ types: [${type}] }], publishes: [{ type: Done }], engine: { kind: function, module: ./agents/${module}.mjs }, retry: { attempts: ${attempts}, delay: 0s } }`;

const CONFIG = `
types: { Picky: { schema: { type: object, required: [n] } } }
agents:
  quoter: ${agent('Inquiry', 'quoter', 2)}
  deep: ${agent('Deep', 'deep')}
  circle: ${agent('Circle', 'circle')}
  getters: ${agent('Getters', 'getters')}
  addresses: ${agent('Addresses', 'addresses')}
  text: ${agent('Text', 'text')}
  silent: ${agent('Silent', 'silent')}
  picky: { consumes: [{ types: [Pick] }], publishes: [{ type: Picky }], engine: { kind: expression, expression: 'dyn({})' }, retry: { attempts: 1 } }
`;

@Agent({ name: 'shelver', consumes: [{ types: ['Book'] }], publishes: [{ type: 'Done' }], retry: { attempts: 1 } })
class Shelver {
  async execute(): Promise<never> {
    throw new Error('the shelf is full');
  }
}

const WITH_STACKS: TestAppOptions = { files: FILES, agents: [Shelver], settings: { errorStacks: true } };

interface Failed {
  id: string;
  error_type: string | null;
  error_message: string | null;
  cause?: string;
  stack?: string;
  attempts: Failed[];
}

const CAUSE =
  /^TypeError: there is no price for Sofa\n {4}at (\w+\.)?priceOf \(lib\/prices\.mjs:2:9\)\n {4}at (\w+\.)?quote \(agents\/quoter\.mjs:5:21\)$/;
const STACK = /^at (\w+\.)?quote \(agents\/quoter\.mjs:7:11\)$/;
const DETAILS = { cause: expect.stringMatching(CAUSE) as string, stack: expect.stringMatching(STACK) as string };

/** Uses the whole app over HTTP on a database, with modules in a folder. Nothing is faked. */
describe('the error of a failed execution', () => {
  let board: Board;

  afterEach(async () => {
    delete (globalThis as { pricesAreKnown?: boolean }).pricesAreKnown;
    await board.close();
  });

  const failing = async (type: string, payload: object = {}): Promise<{ execution: Failed; correlation: string }> => {
    const correlation = await board.publish(type, payload);
    expect(await board.ended(correlation)).toMatchObject({ error_count: 1 });
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id: correlation }).expect(200);
    return { execution: (body as { items: Failed[] }).items[0]!, correlation };
  };
  const details = async (id: string): Promise<Failed> =>
    (await board.http.get(`/api/v1/executions/${id}`).expect(200)).body as Failed;
  const traced = async (correlation: string): Promise<Failed> =>
    ((await board.http.get(`/api/v1/correlations/${correlation}/trace`).expect(200)).body as { executions: Failed[] })
      .executions[0]!;
  const linesOf = (id: string) => board.app.logLines.filter(({ execution_id: logged }) => logged === id);

  it('has its causes and its places in the own files, wherever it is answered, until a retry', async () => {
    board = await Board.start(CONFIG, WITH_STACKS);
    const { execution, correlation } = await failing('Inquiry', { product: 'Sofa' });
    expect(execution).toMatchObject({ error_message: 'cannot quote', ...DETAILS });
    const attempt = { error_message: 'cannot quote', ...DETAILS };
    expect(await details(execution.id)).toMatchObject({ ...attempt, attempts: [attempt, attempt] });
    expect(await traced(correlation)).toMatchObject({ ...attempt, attempts: [attempt, attempt] });

    (globalThis as { pricesAreKnown?: boolean }).pricesAreKnown = true;
    await board.http.post(`/api/v1/executions/${execution.id}/retry`).expect(200);
    await board.ended(correlation);
    const retried = await details(execution.id);
    expect(retried).toMatchObject({ error_message: null, attempts: [attempt, attempt, { error_message: null }] });
    for (const one of [retried, retried.attempts[2]]) {
      expect(one).not.toHaveProperty('cause');
      expect(one).not.toHaveProperty('stack');
    }
  });

  it('is a warning in the log with its causes and places; an attempt that succeeds is not', async () => {
    board = await Board.start(CONFIG, { ...WITH_STACKS, settings: {} });
    const { execution } = await failing('Inquiry', { product: 'Sofa' });
    const failure = {
      level: 40,
      msg: 'execution',
      agent: 'quoter',
      error_type: 'Error',
      err: {
        type: 'Error',
        message: 'cannot quote',
        stack: expect.stringMatching(
          /^Error: cannot quote\n {4}at .*quoter\.mjs:7:11\)\ncaused by: TypeError: there is no price for Sofa\n {4}at .*prices\.mjs:2:9\)\n/,
        ) as string,
      },
    };
    expect(linesOf(execution.id)).toMatchObject([
      { ...failure, attempt: 1, outcome: 'retried' },
      { ...failure, attempt: 2, outcome: 'failed' },
    ]);
    const { execution: refused } = await failing('Pick');
    expect(linesOf(refused.id)).toMatchObject([
      { level: 40, err: { type: 'output', message: 'Picky refuses its payload: payload.n: is required' } },
    ]);
  });

  it('has neither without error_stacks, and what was stored earlier is not answered', async () => {
    board = await Board.start(CONFIG, WITH_STACKS);
    const { folder } = board.app;
    const { execution: earlier } = await failing('Inquiry', { product: 'Sofa' });
    const start = async (settings: object): Promise<Board> => Board.start(CONFIG, { ...WITH_STACKS, folder, settings });
    const first = board;
    try {
      first.app.lifecycle.stop();
      await first.app.app.close();
      board = await start({});
      const { execution: later, correlation } = await failing('Inquiry', { product: 'Sofa' });
      const shown = [later, await details(later.id), await details(earlier.id), await traced(correlation)];
      for (const one of shown.flatMap((each) => [each, ...(each.attempts ?? [])])) {
        expect(one.error_message).toBe('cannot quote');
        expect(one).not.toHaveProperty('cause');
        expect(one).not.toHaveProperty('stack');
      }
      await board.close();
      board = await start({ errorStacks: true });
      expect(await details(earlier.id)).toMatchObject(DETAILS);
      const off = await details(later.id);
      for (const one of [off, ...off.attempts]) expect(one).not.toHaveProperty('stack');
      await board.close();
    } finally {
      board = first;
    }
  });

  it('is bounded, whatever the agent throws', async () => {
    board = await Board.start(CONFIG, WITH_STACKS);
    const { execution: deep } = await failing('Deep');
    expect(deep.stack!.split('\n')).toEqual(Array.from({ length: 20 }, () => 'at dig (agents/deep.mjs:1:1)'));
    expect(deep.cause!.length).toBe(4_096);
    expect(deep.cause).toMatch(/^Error: 2 x+\n {4}at [^\n]*\nError: 3 x+\n[^]*\n\.\.\.$/);

    const { execution: circle } = await failing('Circle');
    expect(circle.stack).toMatch(/^at [^\n]*agents\/circle\.mjs:2:17\)?$/);
    expect(circle).not.toHaveProperty('cause');

    const { execution: getters } = await failing('Getters');
    expect(getters).toMatchObject({ error_message: 'read me not' });
    for (const name of ['cause', 'stack']) expect(getters).not.toHaveProperty(name);
  });

  it('says what a cause without a message is, and keeps the place of an error without one', async () => {
    board = await Board.start(CONFIG, WITH_STACKS);
    expect((await failing('Addresses')).execution.cause).toMatch(
      /^AggregateError: ECONNREFUSED\n {4}at [^\n]*\nError: connect ECONNREFUSED ::1:1\n/,
    );
    expect((await failing('Text')).execution.cause).toBe('of the weather');
    expect((await failing('Silent')).execution).toMatchObject({
      error_type: 'RangeError',
      error_message: 'the agent threw RangeError without a message',
      stack: expect.stringMatching(/^at (\w+\.)?hush \(agents\/silent\.mjs:1:46\)$/) as string,
    });
  });

  it('has the places of a class too', async () => {
    board = await Board.start(CONFIG, WITH_STACKS);
    const { execution } = await failing('Book');
    expect(execution.stack).toMatch(/^at Shelver\.execute \(.*error-stacks\.spec\.ts:\d+:\d+\)$/);
  });
});
