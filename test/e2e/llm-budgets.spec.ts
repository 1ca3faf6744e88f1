// A budget stops a cascade whose calls use more than was expected. Uses the application, its database, the AI SDK and
// HTTP. The model server is a stand-in, and each of its calls uses the same amount.
import { engine as asking, errorOf, startWithModels, TYPES } from '../engines/llm/llm-board.js';
import { CleanedBoard } from '../retention/cleaned-board.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import type { ModelServer } from '../support/model-server.js';
import { type Board, tally } from './board.js';

/** More than the reservation. */
const USED = { input: 1_000, output: 200 };
const CALL = USED.input + USED.output;

const engine = (models: ModelServer): string => asking(models, 'max_output_tokens: 50');

/** Two agents in a chain, and a slow one beside them. */
const config =
  (budget: string, own = '') =>
  (models: ModelServer): string => `
models: { openai/gpt-5-mini: { input_per_million: 1000, output_per_million: 1000 } }
budget: ${budget}
${TYPES}
agents:
  first: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], engine: ${engine(models)}, retry: { attempts: 3, delay: 0s }${own} }
  second: { consumes: [{ types: [Reply] }], publishes: [{ type: Review }], engine: ${engine(models)}, retry: { attempts: 1 } }
  slow: { consumes: [{ types: [Question], where: "has(payload.slow)" }], publishes: [{ type: Late }], engine: { kind: function, module: ./slow.mjs } }
  after: { consumes: [{ types: [WorkflowError] }], publishes: [{ type: Apology }], engine: { kind: expression, expression: '{"sorry": true}' } }
`;
const files = {
  'package.json': '{ "type": "module" }',
  'slow.mjs': `globalThis.slow ??= { started: 0, aborted: 0 };
export default (_inputs, { signal }) => new Promise((_resolve, reject) => {
  globalThis.slow.started += 1;
  signal.addEventListener('abort', () => { globalThis.slow.aborted += 1; reject(signal.reason); });
});`,
};
const slow = (): { started: number; aborted: number } =>
  (globalThis as never as { slow?: { started: number; aborted: number } }).slow ?? { started: 0, aborted: 0 };

const GOOD = { text: '{"text":"It is on its way."}' };

let board: Board;
let models: ModelServer;
let close: () => Promise<void>;
const clock = new ManualClock();
const start = async (budget: string, own = ''): Promise<void> => {
  ({ board, models, close } = await startWithModels(config(budget, own), {
    files,
    clock,
    settings: { shutdownGraceMs: 0 },
  }));
  models.used = () => USED;
  models.answers(GOOD);
};
afterEach(() => close());

test('a correlation within its budget is not stopped', async () => {
  await start(`{ tokens: ${2 * CALL} }`);
  const correlation = await board.publish('Question', { text: 'Where?' });
  expect(await board.ended(correlation)).toMatchObject({
    state: 'completed',
    error_count: 0,
    usage: { input_tokens: 2 * USED.input, output_tokens: 2 * USED.output },
  });
  expect(tally(await board.types(correlation))).toEqual({ Question: 1, Reply: 1, Review: 1 });
});

test.each([
  [
    'tokens',
    `{ tokens: ${2 * CALL - 1} }`,
    `this correlation has a budget of ${2 * CALL - 1} tokens and has used ${2 * CALL}, so it ends here; raise budget to allow more`,
  ],
  [
    'cost',
    `{ cost: ${(2 * CALL - 1) / 1_000} }`,
    `this correlation has a budget of a cost of ${(2 * CALL - 1) / 1_000} and has used ${(2 * CALL) / 1_000}, so it ends here; raise budget to allow more`,
  ],
])(
  'one that overruns its budget of %s fails with one WorkflowError, and all its running and waiting work is stopped',
  async (_, budget, message) => {
    await start(budget);
    const before = slow();
    const { started, aborted } = { ...before };
    let release = (): void => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    models.script = (_request, number) => (number === 1 ? { ...GOOD, before: held } : GOOD);
    const correlation = await board.publish('Question', { text: 'Where?', slow: true });
    await eventually(
      'the slow one runs, and the second one asks its model',
      () => slow().started === started + 1 && models.requests.length === 2,
    );
    await board.publish('Reply', { text: 'Not yet.' }, { correlation, visibility: { kind: 'After', ttl: 'PT1H' } });
    release();

    const status = await board.ended(correlation);
    expect(status).toMatchObject({
      state: 'completed',
      has_pending_work: false,
      error_count: 1,
      usage: { input_tokens: 2 * USED.input, output_tokens: 2 * USED.output },
    });
    expect(await errorOf(board, correlation)).toMatchObject({
      failed_agent: 'second',
      error_type: 'budget',
      error_message: message,
      attempts: 1,
    });
    await eventually('the slow one was aborted', () => slow().aborted === aborted + 1);
    // Nothing starts any more, not even on the error or when time passes.
    clock.advance(2 * 3_600_000);
    expect(tally(await board.types(correlation))).toEqual({ Question: 1, Reply: 2, WorkflowError: 1 });
    const executions = await board.app.database.rows<{ agent: string; state: string }>(
      `select agent, state from executions where correlation_id = '${correlation}' order by seq`,
    );
    expect(Object.fromEntries(executions.map(({ agent, state }) => [agent, state]))).toEqual({
      first: 'completed',
      second: 'failed',
      slow: 'cancelled',
    });
    await board.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', correlation)
      .send({ type: 'Question', payload: { text: 'Again?' } })
      .expect(409);
  },
);

test("an agent's own budget counts its own usage, including failed attempts", async () => {
  await start('{ tokens: 1000000 }', `, budget: { tokens: ${2.5 * CALL} }`);
  models.answers({ text: 'no' }, { text: 'no' }, GOOD);
  const { body: run } = await board.http
    .post('/run/flock')
    .send({ agent_name: 'first', inputs: { text: 'Where?' } })
    .expect(200);
  expect(run).toMatchObject({
    status: 'failed',
    error: `first failed: first in this correlation has a budget of ${2.5 * CALL} tokens and has used ${3 * CALL}, so it ends here; raise budget to allow more`,
    usage: { input_tokens: 3 * USED.input },
  });
  const { body } = await board.http.get(`/api/v1/correlations/${(run as { run_id: string }).run_id}/status`);
  expect(body).toMatchObject({ state: 'failed', error_count: 1 });
  // Each correlation has a separate budget.
  models.answers(GOOD);
  const correlation = await board.publish('Question', { text: 'Where?' });
  expect((await board.ended(correlation)).error_count).toBe(0);
});

test('a budget of a cost that is used exactly is not exceeded, whatever its fractions add up to', async () => {
  await start('{ tokens: 1000000 }', ', budget: { cost: 3.3 }');
  models.used = () => ({ input: 1_000, output: 100 });
  models.answers({ text: 'no JSON' }, { text: 'no JSON' }, GOOD);
  const correlation = await board.publish('Question', { text: 'Where?' });
  expect(await board.ended(correlation)).toMatchObject({ state: 'completed', error_count: 0 });
});

test("an agent's usage counts in its budget while the correlation exists, even after retention has deleted its executions", async () => {
  ({ board, models, close } = await startWithModels(
    (server) => `
server: { retain_executions: 1d }
models: { openai/gpt-5-mini: { input_per_million: 1000, output_per_million: 1000 } }
types: { Fleeting: { retain: 1d }, Gone: { retain: 1d } }
agents:
  first: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], engine: ${engine(server)}, budget: { cost: ${(3.5 * CALL) / 1_000} } }
  second: { consumes: [{ types: [Reply] }], publishes: [{ type: Review }], engine: ${engine(server)} }
  third: { consumes: [{ types: [Fleeting] }], publishes: [{ type: Gone }], engine: ${engine(server)} }
`,
    { clock, settings: { shutdownGraceMs: 0 } },
  ));
  models.used = () => USED;
  models.answers(GOOD);
  const cleaned = new CleanedBoard(board, clock);
  const ask = async (correlation: string, type: string) => {
    await board.publish(type, { text: 'Where?' }, { correlation });
    return board.ended(correlation);
  };
  await ask('short', 'Fleeting');
  for (const round of [1, 2, 3]) {
    expect(await ask('long', 'Question')).toMatchObject({ state: 'completed', error_count: 0 });
    await cleaned.cleanUpAfter(2);
    expect([await cleaned.count('usage'), await cleaned.count('executions')]).toEqual([0, 0]);
    const kept = await board.app.database.rows<Record<string, unknown>>(
      'select correlation_id, agent, tokens, cost from deleted_usage order by agent',
    );
    expect(kept.map(({ tokens, cost, ...whose }) => ({ ...whose, tokens: Number(tokens), cost }))).toEqual(
      ['first', 'second'].map((agent) => ({
        correlation_id: 'long',
        agent,
        tokens: round * CALL,
        cost: expect.closeTo((round * CALL) / 1_000, 9),
      })),
    );
  }
  expect(await ask('long', 'Question')).toMatchObject({ error_count: 1 });
  expect(await errorOf(board, 'long')).toMatchObject({
    failed_agent: 'first',
    error_type: 'budget',
    error_message: expect.stringMatching(
      /^first in this correlation has a budget of a cost of 4.2 and has used 4.8, so it ends here; /,
    ),
  });
});

test.each([
  ['its correlation', `{ tokens: ${2 * CALL} }`, ''],
  ['its agent', '{ tokens: 1000000 }', `, budget: { tokens: ${CALL} }`],
])('a replay has the whole budget of %s, although the original has used it up', async (_, budget, own) => {
  await start(budget, own);
  const used = { input_tokens: 2 * USED.input, output_tokens: 2 * USED.output };
  const original = await board.publish('Question', { text: 'Where?' });
  const before = await board.ended(original);
  expect(before).toMatchObject({ state: 'completed', error_count: 0, usage: used });
  for (const round of [1, 2]) {
    const { body } = await board.http
      .post(`/api/v1/correlations/${original}/replay`)
      .send({ mode: 'full' })
      .expect(200);
    const replay = (body as { correlation_id: string }).correlation_id;
    expect(await board.ended(replay)).toMatchObject({ state: 'completed', error_count: 0, usage: used });
    expect(models.requests).toHaveLength(2 + 2 * round);
  }
  expect(await board.status(original)).toEqual(before);
});
