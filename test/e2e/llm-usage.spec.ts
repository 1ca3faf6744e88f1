// Model usage and its cost, stored and summed. Uses the application, its database, the AI SDK and HTTP. The model
// server is a stand-in, and each of its calls uses the same amount.
import { resolve } from 'node:path';

import { engine, startWithModels, TYPES } from '../engines/llm/llm-board.js';
import { CleanedBoard } from '../retention/cleaned-board.js';
import { SseReader } from '../support/changelog-readers.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { eventually } from '../support/eventually.js';
import { ManualClock } from '../support/manual-clock.js';
import { type ModelServer, USED } from '../support/model-server.js';
import { ended, send } from './batch-board.js';
import { Board } from './board.js';

const PRICE = { input: 2, output: 10 };
const COST = (USED.input * PRICE.input + USED.output * PRICE.output) / 1_000_000;

/** The usage of a number of calls. */
const used = (calls: number, priced = calls) => ({
  input_tokens: calls * USED.input,
  output_tokens: calls * USED.output,
  ...(priced > 0 && { cost: Number((priced * COST).toPrecision(12)) }),
});

const TOOLS = `tools: [{ mcp: { command: '${process.execPath}', args: ['${resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js')}'] }, allow: [echo] }]`;

const config = (models: ModelServer): string => `
server: { retain_executions: 1d }
models: { openai/gpt-5-mini: { input_per_million: ${PRICE.input}, output_per_million: ${PRICE.output} } }
${TYPES}
agents:
  responder: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], engine: ${engine(models)}, retry: { attempts: 2, delay: 0s } }
  reviewer: { consumes: [{ types: [Reply] }], publishes: [{ type: Review }], engine: ${engine(models, '', 'local/free')} }
  essayist: { consumes: [{ types: [Topic] }], publishes: [{ type: Essay }], engine: ${engine(models, '', 'anthropic/claude-sonnet-4-5')}, retry: { attempts: 1 } }
  runner: { consumes: [{ types: [Errand] }], publishes: [{ type: Done }], engine: ${engine(models, TOOLS)} }
  plain: { consumes: [{ types: [Ping] }], publishes: [{ type: Pong }], engine: { kind: expression, expression: '{"n": 1}' } }
`;

describe('usage', () => {
  let board: Board;
  let models: ModelServer;
  let close: () => Promise<void>;
  const clock = new ManualClock();
  let release = (): void => undefined;
  beforeAll(
    async () => ({ board, models, close } = await startWithModels(config, { clock, settings: { shutdownGraceMs: 0 } })),
  );
  afterAll(() => close());
  beforeEach(() => models.answers({ text: '{"text":"It is on its way."}' }));

  const get = async (path: string): Promise<Record<string, unknown>> =>
    (await board.http.get(path).expect(200)).body as Record<string, unknown>;
  const metric = async (sample: string): Promise<number> =>
    Number(
      (await board.http.get('/metrics')).text
        .split('\n')
        .find((line) => line.startsWith(`${sample} `))
        ?.split(' ')
        .at(-1) ?? 0,
    );
  const spentBy = async (agent: string): Promise<unknown> =>
    ((await get(`/api/v1/agents/${agent}/history-summary`)).summary as { usage?: unknown }).usage;

  /** The usage of all agents in the last hour, and of each. */
  const spentInAnHour = async (): Promise<unknown> => {
    const { total, agents } = (await get('/api/v1/activity')) as {
      total: { usage?: unknown };
      agents: { agent: string; usage?: unknown }[];
    };
    return [total.usage, Object.fromEntries(agents.map(({ agent, usage }) => [agent, usage]))];
  };

  test('is stored for each attempt, including failed ones, and summed for a correlation and an agent', async () => {
    expect([await spentBy('responder'), await spentBy('plain')]).toEqual([undefined, undefined]);
    models.answers({ text: 'no' }, { text: 'no' }, { text: '{"text":"It is on its way."}' });
    const { correlation_id: correlation } = await board.publishSync('Question', { text: 'Where?' });

    const rows = await board.app.database.rows<Record<string, unknown>>(
      `select agent, attempt, model, input_tokens, output_tokens, cost, at, latency_ms from usage where correlation_id = '${correlation}' order by seq`,
    );
    const row = (agent: string, attempt: number, model: string, calls: number, cost: number | null) => ({
      agent,
      attempt,
      model,
      input_tokens: String(calls * USED.input),
      output_tokens: String(calls * USED.output),
      cost,
      at: String(clock.now()),
    });
    expect(
      rows.map(
        ({ latency_ms: latency, ...rest }) => (
          expect(Number(latency)).toBeGreaterThanOrEqual(0),
          {
            ...rest,
            input_tokens: String(rest.input_tokens),
            output_tokens: String(rest.output_tokens),
            at: String(rest.at),
          }
        ),
      ),
    ).toEqual([
      row('responder', 1, 'openai/gpt-5-mini', 2, 2 * COST),
      row('responder', 2, 'openai/gpt-5-mini', 1, COST),
      row('reviewer', 1, 'local/free', 1, null),
    ]);
    expect((await get(`/api/v1/correlations/${correlation}/status`)).usage).toEqual(used(4, 3));
    expect((await get(`/api/v1/correlations?id_prefix=${correlation}`)).items).toMatchObject([{ usage: used(4, 3) }]);
    const [first] = await board.app.database.rows<{ id: string }>(
      `select id from executions where correlation_id = '${correlation}' order by seq`,
    );
    expect((await get(`/api/v1/executions/${first!.id}`)).model_uses).toMatchObject([
      {
        attempt: 1,
        model: 'openai/gpt-5-mini',
        input_tokens: 2 * USED.input,
        output_tokens: 2 * USED.output,
        cost: 2 * COST,
        at: new Date(clock.now()).toISOString(),
      },
      { attempt: 2, model: 'openai/gpt-5-mini', input_tokens: USED.input },
    ]);
    expect([await spentBy('responder'), await spentBy('reviewer')]).toEqual([used(3), used(1, 0)]);
    const inAnHour = [used(4, 3), { responder: used(3), reviewer: used(1, 0) }];
    expect(await spentInAnHour()).toEqual(inAnHour);
    // The same before and after the rollup.
    await eventually(
      'it is rolled up',
      async () => (await board.app.database.rows('select 1 from activity_hours where input_tokens > 0')).length > 0,
    );
    expect([await spentBy('responder'), await spentBy('reviewer')]).toEqual([used(3), used(1, 0)]);
    expect(await spentInAnHour()).toEqual(inAnHour);
    expect(
      await metric(
        'starling_model_tokens_total{agent="responder",origin="live",model="openai/gpt-5-mini",direction="input"}',
      ),
    ).toBe(3 * USED.input);
    expect(
      await metric('starling_model_cost_total{agent="responder",origin="live",model="openai/gpt-5-mini"}'),
    ).toBeCloseTo(3 * COST, 12);
    expect(
      await metric('starling_model_latency_seconds_count{agent="responder",origin="live",model="openai/gpt-5-mini"}'),
    ).toBe(2);
  });

  test('is in the answers of runs and batches, and omitted if no model was used', async () => {
    const { body: run } = await board.http
      .post('/run/flock')
      .send({ agent_name: 'responder', inputs: { text: 'Where?' } })
      .expect(200);
    expect(run).toMatchObject({ status: 'completed', usage: used(2, 1) });
    const batch = await ended(
      board,
      await send(board, 'responder', [{ text: 'One?' }, { text: 'Two?' }, { text: 'Three?' }]),
    );
    expect(batch).toMatchObject({
      completed_items: 3,
      usage: used(6, 3),
      results: [{ usage: used(2, 1) }, { usage: used(2, 1) }, { usage: used(2, 1) }],
    });

    const { body: plain } = await board.http.post('/run/flock').send({ agent_name: 'plain', inputs: {} }).expect(200);
    expect(Object.keys(plain as object).sort()).toEqual(['completed_at', 'result', 'run_id', 'started_at', 'status']);
    const { correlation_id: correlation } = await board.publishSync('Question', { text: 'Where?' }, { timeout: 5 });
    expect((await get(`/api/v1/correlations/${correlation}/status`)).usage).toEqual(used(2, 1));
    expect(Object.keys(await get('/api/v1/correlations/unknown/status'))).not.toContain('usage');
  });

  test('of an execution that was cancelled meanwhile counts too', async () => {
    let release = (): void => undefined;
    models.answers(
      { text: 'no' },
      { text: '{"text":"late"}', before: new Promise((resolve) => (release = () => resolve())) },
    );
    const correlation = await board.publish('Question', { text: 'Where?' });
    await eventually('the model is asked again', () => models.requests.length === 2);
    await board.http.post(`/api/v1/correlations/${correlation}/cancel`).expect(200);
    await eventually(
      'the usage is counted',
      async () => (await get(`/api/v1/correlations/${correlation}/status`)).usage !== undefined,
    );
    expect(await get(`/api/v1/correlations/${correlation}/status`)).toMatchObject({
      state: 'cancelled',
      usage: used(1),
    });
    release();
  });

  test.each([
    [
      'is aborted',
      'cancelled',
      (correlation: string) => board.http.post(`/api/v1/correlations/${correlation}/cancel`).expect(200),
    ],
    ['breaks off', 'failed', async () => release()],
  ])('of a call that %s counts as far as the provider has reported it', async (_, state, end) => {
    models.answers({
      text: '{"text":"never said"}',
      halfway: new Promise((resolve) => (release = () => resolve())),
      fault: 'cut',
    });
    const reader = await SseReader.open(board.app.url, { live: true });
    const correlation = await board.publish('Topic', { text: 'Where?' });
    await eventually('the model answers', () =>
      reader.liveEvents.some(
        (event) => event.event_type === 'execution_output' && event.correlation_id === correlation,
      ),
    );
    reader.close();
    await end(correlation);
    await eventually(
      'its usage is counted',
      async () => (await get(`/api/v1/correlations/${correlation}/status`)).usage !== undefined,
    );
    // Anthropic reports the question immediately, and the first token of its answer.
    expect(await get(`/api/v1/correlations/${correlation}/status`)).toMatchObject({
      state,
      usage: { input_tokens: USED.input, output_tokens: 1 },
    });
    release();
  });

  test('of an execution that is released at a stop stays with it', async () => {
    models.answers({ text: '{"text":"never said"}', halfway: new Promise((resolve) => (release = () => resolve())) });
    const folder = new ConfigurationFolder();
    const stopping = await Board.start(config(models), { folder: folder.path, settings: { shutdownGraceMs: 0 } });
    const reader = await SseReader.open(stopping.app.url, { live: true });
    const correlation = await stopping.publish('Topic', { text: 'Where?' });
    await eventually('the model answers', () =>
      reader.liveEvents.some(({ event_type }) => event_type === 'execution_output'),
    );
    reader.close();
    await stopping.close();
    const { database } = stopping.app;
    expect(await database.rows(`select state from executions where correlation_id = '${correlation}'`)).toEqual([
      { state: 'pending' },
    ]);
    const [row] = await database.rows<Record<string, unknown>>(
      `select input_tokens, output_tokens from correlations where id = '${correlation}'`,
    );
    expect([Number(row!.input_tokens), Number(row!.output_tokens)]).toEqual([USED.input, 1]);
    release();
    await database.drop();
    folder.remove();
  });

  test('of attempts is deleted with their execution; sums stay', async () => {
    const { correlation_id: correlation } = await board.publishSync('Question', { text: 'Where?' });
    const cleaned = new CleanedBoard(board, clock);
    const before = await spentBy('responder');
    expect(await cleaned.count('usage', `correlation_id = '${correlation}'`)).toBe(2);
    models.answers({ tool: 'echo', input: { message: 'hello' } }, { text: '{"done":true}' });
    await board.publishSync('Errand', {}, { timeout: 20 });
    expect(await cleaned.count('tool_calls')).toBe(1);
    await cleaned.cleanUpAfter(2);
    expect(await cleaned.count('usage', `correlation_id = '${correlation}'`)).toBe(0);
    expect(await cleaned.count('tool_calls')).toBe(0);
    expect([(await get(`/api/v1/correlations/${correlation}/status`)).usage, await spentBy('responder')]).toEqual([
      used(2, 1),
      before,
    ]);
  });
});
