// Model calls that finish without the provider's figures count in budgets as their reservation. Uses the application,
// its database, the AI SDK and HTTP. The model server is a stand-in.
import { engine, errorOf, MODELS, startWithModels, TYPES } from '../engines/llm/llm-board.js';
import { SseReader } from '../support/changelog-readers.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { type ModelAnswer, ModelServer } from '../support/model-server.js';
import type { Board } from './board.js';

const OUTPUT = 2_000;
/** Enough for one call and not for a second one. */
const BUDGET = 3_000;
const ATTEMPTS = 5;
const TEXT = JSON.stringify({ text: 'x'.repeat(600) });

const config =
  (model: string, baseUrl?: string) =>
  (models: ModelServer): string => `
models: { ${model}: { input_per_million: 1000, output_per_million: 1000 } }
budget: { tokens: ${BUDGET} }
${TYPES}
agents:
  asker:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Reply }]
    engine: ${engine(baseUrl ? ({ url: baseUrl } as ModelServer) : models, `max_output_tokens: ${OUTPUT}`, model)}
    timeout: 10s
    retry: { attempts: ${ATTEMPTS}, delay: 0s }
`;

interface Usage {
  input_tokens: number;
  output_tokens: number;
  cost: number;
}

const clock = new ManualClock();
let board: Board;
let models: ModelServer;
let close: () => Promise<void>;
afterEach(() => close());

const start = async (model: string, baseUrl?: string): Promise<void> => {
  ({ board, models, close } = await startWithModels(config(model, baseUrl), {
    clock,
    settings: { shutdownGraceMs: 0 },
  }));
};
const usageOf = async (correlation: string): Promise<Usage | undefined> =>
  ((await board.status(correlation)) as unknown as { usage?: Usage }).usage;

const TIMEOUT_MS = 10_000;

/** After this live event, or when the model is asked. */
type TimeOut = (event?: string) => Promise<void>;

describe.each(MODELS)('of %s, a call', (model) => {
  test.each<[string, ModelAnswer, (timeOut: TimeOut) => Promise<void>]>([
    [
      'is aborted after some text',
      { text: TEXT, halfway: new Promise(() => undefined) },
      (timeOut) => timeOut('execution_output'),
    ],
    ['is aborted before any text', { text: TEXT, before: new Promise(() => undefined) }, (timeOut) => timeOut()],
    ['is cut off', { text: TEXT, fault: 'cut' }, () => Promise.resolve()],
    ['ends in an error', { text: TEXT, fault: 'error' }, () => Promise.resolve()],
  ])('that %s counts as its whole reservation: there is no second one', async (_, answer, end) => {
    await start(model);
    models.answers(answer);
    const reader = await SseReader.open(board.app.url, { live: true });
    const timeOut: TimeOut = async (event) => {
      await eventually(
        'the model is at work',
        () =>
          models.requests.length === 1 && (!event || reader.liveEvents.some(({ event_type }) => event_type === event)),
      );
      clock.advance(TIMEOUT_MS);
    };
    const correlation = await board.publish('Question', { text: 'Where?' });
    await end(timeOut);
    reader.close();
    expect(await board.ended(correlation)).toMatchObject({ state: 'failed', error_count: 1 });
    expect(await errorOf(board, correlation)).toMatchObject({ error_type: 'budget', attempts: 2 });
    expect(models.requests).toHaveLength(1);
    const { input_tokens, output_tokens, cost } = (await usageOf(correlation))!;
    expect(output_tokens).toBe(OUTPUT);
    expect(input_tokens).toBeGreaterThan(0);
    expect(input_tokens + output_tokens).toBeLessThanOrEqual(BUDGET);
    expect(cost).toBeCloseTo((input_tokens + output_tokens) / 1_000, 9);
    expect(await board.app.database.rows('select execution_id from budget_reservations')).toEqual([]);
  });
});

test("an answer without the provider's figures counts as its whole reservation", async () => {
  await start('local/llama3.2');
  models.answers({ text: '{"text":"It is on its way."}', untold: true });
  const first = await board.publishSync('Question', { text: 'Where?' });
  expect(first.artifacts.map(({ type }) => type)).toEqual(['Reply']);
  expect(await usageOf(first.correlation_id)).toMatchObject({ output_tokens: OUTPUT });
  await board.publish('Question', { text: 'And now?' }, { correlation: first.correlation_id });
  await eventually(
    'the correlation has finished',
    async () => (await board.status(first.correlation_id)).error_count === 1,
  );
  expect(await errorOf(board, first.correlation_id)).toMatchObject({ error_type: 'budget', attempts: 1 });
  expect(models.requests).toHaveLength(1);
});

test.each([429, 400, 503])('a call that the provider refuses with %i counts as nothing', async (status) => {
  await start('local/llama3.2');
  models.answers({ status, message: 'not now' });
  const correlation = await board.publish('Question', { text: 'Where?' });
  await board.ended(correlation);
  expect(models.requests).toHaveLength(ATTEMPTS);
  expect(await usageOf(correlation)).toBeUndefined();
});

test('a call whose connection is refused counts as nothing', async () => {
  const gone = await ModelServer.start();
  const { url } = gone;
  await gone.close();
  await start('local/llama3.2', url);
  const correlation = await board.publish('Question', { text: 'Where?' });
  await board.ended(correlation);
  expect(await errorOf(board, correlation)).toMatchObject({ error_type: 'model', attempts: ATTEMPTS });
  expect(await usageOf(correlation)).toBeUndefined();
});
