// Pairs of rules of which one is variants. Uses the whole app over HTTP on a database. The clock is faked, or the model server
// is a stand-in.
import { engine, errorOf, startWithModels, TYPES } from '../engines/llm/llm-board.js';
import { eventually } from '../support/eventually.js';
import type { ModelServer } from '../support/model-server.js';
import type { Board } from './board.js';
import { MINUTE, ONCE, PairsBoard } from './pairs-board.js';

/** Its base answers or fails as `base` says, and its variant works. */
const agent = (name: string, type: string, base: string, more: string): string =>
  `  ${name}: { consumes: [{ types: [${type}] }], publishes: [{ type: Ended }], ${more}, ${ONCE}, engine: { kind: expression, expression: "${base}" }, variants: { other: { share: 50%, expression: "{ 'by': 'other' }" } } }`;

const CONFIG = `
limits:
  calls: { rate: 2/h, burst: 2 }
agents:
${agent('limited', 'Limited', "{ 'by': 'base' }", 'limits: [calls]')}
${agent('broken', 'Broken', '{ "by": payload.missing }'.replaceAll('"', "'"), 'breaker: { failures: 50%, of: 2, open: 5m }')}
`;

describe('variants and', () => {
  const pairs = new PairsBoard();
  const { clock, publish, only, ends, waitsFor } = pairs;

  beforeAll(() => pairs.start(CONFIG));
  afterAll(() => pairs.close());

  /** Each of a few is of one variant with a probability of 2^-19. */
  const NAMES = Array.from({ length: 20 }, (_, n) => `v${n}`);
  const expectBoth = async (names: readonly string[]): Promise<void> => {
    const variants = await Promise.all(names.map(async (name) => (await only(name)).variant));
    expect(new Set(variants)).toEqual(new Set(['base', 'other']));
  };

  it('a limit: all of them share it', async () => {
    const names = NAMES.map((name) => `l${name}`);
    await publish('Limited', names);
    for (const name of names.slice(0, 2)) await ends(name);
    for (const [place, name] of names.slice(2).entries())
      await waitsFor(name, new RegExp(`^limit calls: 2 of 2 used, ${place + 1}.. of 18, next in 1800.0 s$`));
    await pairs.board.http.put('/api/v1/limits/calls').send({}).expect(200);
    for (const name of names) await ends(name);
    await expectBoth(names);
  });

  it('a breaker: the failures of one open it for all', async () => {
    let opened = 0;
    for (let failed = false; !failed; opened += 1) {
      await publish('Broken', [`bo${opened}`]);
      failed = (await pairs.board.ended(`bo${opened}`)).state === 'failed';
    }
    expect(await only(`bo${opened - 1}`)).toMatchObject({ variant: 'base' });
    const names = NAMES.map((name) => `b${name}`);
    await publish('Broken', names);
    for (const [place, name] of names.entries())
      await waitsFor(name, new RegExp(`^breaker of broken: open, ${place + 1}.. of 20, next in 300.0 s$`));
    // Each attempt of the base opens it again.
    for (const name of names)
      await eventually(`${name} has ended`, async () => {
        clock.advance(5 * MINUTE);
        return (await pairs.board.status(name)).state !== 'active';
      });
    await expectBoth(names);
  });
});

const CALL = 1_200;
const OTHER = 'Answer briefly.';
const askers = (models: ModelServer): string => `
models: { openai/gpt-5-mini: { input_per_million: 1000, output_per_million: 1000 } }
${TYPES}
agents:
  placed: { consumes: [{ types: [Question], where: "payload.to == 'placed'" }], publishes: [{ type: Reply }], engine: ${engine(models)}, concurrency: 2, variants: { other: { share: 50%, instructions: ${OTHER} } } }
  paid: { consumes: [{ types: [Question], where: "payload.to == 'paid'" }], publishes: [{ type: Reply }], engine: ${engine(models, 'max_output_tokens: 50')}, budget: { tokens: ${2.5 * CALL} }, retry: { attempts: 5, delay: 0s }, variants: { other: { share: 100%, instructions: ${OTHER} } }, rollback: { failures: 50%, of: 2 } }
`;

describe('variants of an agent that asks a model, and', () => {
  let board: Board;
  let models: ModelServer;
  let close: () => Promise<void>;

  beforeAll(async () => {
    ({ board, models, close } = await startWithModels(askers, { settings: { shutdownGraceMs: 0 } }));
    models.used = () => ({ input: CALL - 200, output: 200 });
  });
  afterAll(() => close());

  const variantsAsked = (from: number): string[] =>
    models.requests.slice(from).map(({ text }) => (text.includes(OTHER) ? 'other' : 'base'));

  it('concurrency: all of them share it', async () => {
    const answers: (() => void)[] = [];
    models.script = () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      answers.push(resolve);
      return { text: '{"text":"It is on its way."}', before: promise };
    };
    // All are of one variant with a probability of 2^-19.
    const names = Array.from({ length: 20 }, (_, n) => `c${n}`);
    for (const name of names) await board.publish('Question', { text: 'Where?', to: 'placed' }, { correlation: name });
    for (let ended = 0; ended < names.length; ended += 1) {
      const expected = Math.min(ended + 2, names.length);
      await eventually(`${expected} have been asked`, () => models.requests.length >= expected);
      const { body } = await board.http.get('/api/v1/executions').query({ agent: 'placed', state: 'running' });
      expect((body as { items: object[] }).items).toHaveLength(expected - ended);
      answers[ended]!();
      const done = async (): Promise<number> =>
        (await board.app.database.rows(`select id from executions where state = 'completed'`)).length;
      await eventually('one has ended', async () => (await done()) === ended + 1);
    }
    expect(new Set(variantsAsked(0))).toEqual(new Set(['base', 'other']));
  });

  it('a budget: what a variant used counts for the own options after a rollback', async () => {
    const asked = models.requests.length;
    models.script = () => ({ text: 'no' });
    await board.publish('Question', { text: 'Where?', to: 'paid' }, { correlation: 'paid' });
    expect(await board.ended('paid')).toMatchObject({ error_count: 1 });
    expect(await errorOf(board, 'paid')).toMatchObject({
      error_type: 'budget',
      error_message: expect.stringContaining(`has a budget of ${2.5 * CALL} tokens and has used ${3 * CALL}, `),
    });
    expect(variantsAsked(asked)).toEqual(['other', 'other', 'base']);
  });
});
