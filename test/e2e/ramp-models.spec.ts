// Variants of an agent with a language model. Uses the application, its database, the AI SDK and HTTP. The model server is a
// stand-in, and each of its calls uses the same amount.
import type { HistoryBody } from '../../src/features/agents/dto/history-body.js';
import type { ListedExecutionBody } from '../../src/features/executions/dto/execution-body.js';
import { engine, startWithModels, TYPES } from '../engines/llm/llm-board.js';
import { type ModelServer, USED } from '../support/model-server.js';
import type { Board } from './board.js';

/** Per million tokens, of input and of output. */
const PRICES = { large: 10, small: 1 };

const config = (models: ModelServer): string => `
models:
  local/large: { input_per_million: ${PRICES.large}, output_per_million: ${PRICES.large} }
  local/small: { input_per_million: ${PRICES.small}, output_per_million: ${PRICES.small} }
${TYPES}
agents:
  half:
    consumes: [{ types: [Question] }]
    publishes: [{ type: Reply }]
    retry: { attempts: 1 }
    engine: ${engine(models, '', 'local/large')}
    variants: { brief: { share: 50%, model: local/small, instructions: Answer in one word., temperature: 0.25 } }
    rollback: { failures: 100%, of: 2 }
`;

/** The correlations that the hash gives to each. */
const BASE = ['ramp-0', 'ramp-2'];
const BRIEF = ['ramp-1', 'ramp-3', 'ramp-4'];

const usageOf = (calls: number, price: number) => ({
  input_tokens: calls * USED.input,
  output_tokens: calls * USED.output,
  cost: Number(((calls * (USED.input + USED.output) * price) / 1_000_000).toPrecision(12)),
});

describe('a variant with another model and other instructions', () => {
  let board: Board;
  let models: ModelServer;
  let close: () => Promise<void>;
  beforeAll(async () => ({ board, models, close } = await startWithModels(config)));
  afterAll(() => close());

  /** Returns how the execution ended. */
  const ask = async (correlation: string): Promise<string> => {
    await board.publish('Question', { text: 'Where is it?' }, { correlation });
    await board.ended(correlation);
    const { body } = await board.http.get('/api/v1/executions').query({ correlation_id: correlation }).expect(200);
    return (body as { items: ListedExecutionBody[] }).items[0]!.state;
  };

  it('asks its model with its options, and only for its correlations', async () => {
    models.answers({ text: '{"text":"Here."}' });
    for (const correlation of [...BASE, ...BRIEF]) expect(await ask(correlation)).toBe('completed');
    const asked = models.requests.map(({ body, text }) => [
      body.model,
      body.temperature,
      ['Answer the question.', 'Answer in one word.'].filter((instructions) => text.includes(instructions)),
    ]);
    expect(asked).toEqual([
      ...BASE.map(() => ['large', undefined, ['Answer the question.']]),
      ...BRIEF.map(() => ['small', 0.25, ['Answer in one word.']]),
    ]);
  });

  it('has its own tokens and costs, in the history and in the metrics', async () => {
    const { body } = await board.http.get('/api/v1/agents/half/history-summary').expect(200);
    const { by_variant } = (body as HistoryBody).summary;
    expect(by_variant!.map(({ name, executions, usage }) => [name, executions, usage])).toEqual([
      ['base', BASE.length, usageOf(BASE.length, PRICES.large)],
      ['brief', BRIEF.length, usageOf(BRIEF.length, PRICES.small)],
    ]);
    const costs = (await board.http.get('/metrics')).text
      .split('\n')
      .filter((line) => line.startsWith('starling_model_cost_total{'))
      .map((line) => [/variant="(\w+)"/.exec(line)?.[1], Number(line.split(' ').at(-1)).toPrecision(6)]);
    expect(costs.sort()).toEqual([
      ['base', usageOf(BASE.length, PRICES.large).cost.toPrecision(6)],
      ['brief', usageOf(BRIEF.length, PRICES.small).cost.toPrecision(6)],
    ]);
  });

  it('is rolled back when the model fails, and the model of the agent is asked then', async () => {
    models.answers({ status: 400, message: 'no such model' });
    for (const correlation of BRIEF.slice(0, 2)) expect(await ask(correlation)).toBe('failed');
    models.requests.length = 0;
    models.answers({ text: '{"text":"Here."}' });
    expect(await ask(BRIEF[2]!)).toBe('completed');
    expect(models.requests.map(({ body }) => body.model)).toEqual(['large']);
  });
});
