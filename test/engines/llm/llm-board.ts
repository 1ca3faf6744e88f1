import { Board } from '../../e2e/board.js';
import type { TestAppOptions } from '../../support/app.js';
import { ModelServer } from '../../support/model-server.js';

/** Test keys in the form of each provider; none of them is valid. */
export const KEYS = {
  OPENAI_API_KEY: 'sk-openai-4711-secret',
  ANTHROPIC_API_KEY: 'sk-ant-4711-secret',
  LOCAL_API_KEY: 'local-4711-secret',
  GOOGLE_GENERATIVE_AI_API_KEY: 'google-4711-secret',
};

/** The environment variables with the providers' keys, for this process and all that it starts. */
export function setKeys(): void {
  Object.assign(process.env, KEYS);
}

/** One model of each wire format. */
export const MODELS = [
  'openai/gpt-5-mini',
  'anthropic/claude-sonnet-4-5',
  'local/llama3.2',
  'google/gemini-2.5-flash',
] as const;

export const TYPES = `
types:
  Question: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
  Reply: { schema: { type: object, required: [text], properties: { text: { type: string, minLength: 3 }, mood: { enum: [glad, sad] } } } }
`;

/** Returns the engine of an agent that asks the stand-in. */
export const engine = (models: ModelServer, more = '', model: string = MODELS[0]): string =>
  `{ kind: llm, model: ${model}, base_url: "${models.url}", instructions: Answer the question.${more && `, ${more}`} }`;

/** Answers a Question with a Reply, by one model of the stand-in. `agent` adds keys to it. */
export const responder = (
  models: ModelServer,
  more = '',
  model: string = MODELS[0],
  agent = 'retry: { attempts: 1 }',
): string =>
  `${TYPES}
agents:
  responder: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], engine: ${engine(models, more, model)}, ${agent} }
`;

/** A board whose agents ask a stand-in for models. */
export async function startWithModels(
  config: (models: ModelServer) => string,
  options: TestAppOptions = {},
): Promise<{ board: Board; models: ModelServer; close(): Promise<void> }> {
  setKeys();
  const models = await ModelServer.start();
  const board = await Board.start(config(models), options);
  return {
    board,
    models,
    async close() {
      await board.close();
      await models.close();
    },
  };
}

/** Returns the one error of a correlation. */
export async function errorOf(board: Board, correlation: string): Promise<Record<string, unknown>> {
  const [error, ...more] = (await board.artifacts(correlation)).filter(({ type }) => type === 'WorkflowError');
  expect(more).toEqual([]);
  return error!.payload;
}
