// Uses the application over HTTP, and HTTP servers as remote agents and as a model, whose answers are made up.
import { AnswerMemory } from '../../src/blackboard/execution/answer-memory.js';
import { eventually } from '../support/eventually.js';
import { ModelServer } from '../support/model-server.js';
import { Receiver } from '../support/receiver.js';
import { replies } from '../support/remote-agent.js';
import { Board } from './board.js';

const MIB = 1_024 ** 2;

const config = (agents: Receiver, models: ModelServer): string => `
types:
  Note: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
agents:
  writer: { consumes: [{ types: [Wanted] }], publishes: [{ type: Text }], engine: { kind: function, module: ./writer.js }, retry: { attempts: 1 } }
  searcher: { consumes: [{ types: [Search] }], publishes: [{ type: Found }], engine: { kind: function, module: ./searcher.js }, retry: { attempts: 1 } }
  blobs: { consumes: [{ types: [Blob] }], engine: { kind: external } }
  worker: { consumes: [{ types: [Errand] }], publishes: [{ type: Report }], engine: { kind: external } }
  remote: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], engine: { kind: http, url: "${agents.url('/remote')}", max_answer: 4MiB }, retry: { attempts: 1 }, concurrency: 20 }
  model: { consumes: [{ types: [Topic] }], publishes: [{ type: Note }], engine: { kind: llm, model: local/llama3.2, base_url: "${models.url}", instructions: Write. }, retry: { attempts: 1 } }
`;

const WRITER = `export default ([{ payload }]) => ({ text: 'x'.repeat(payload.length) });`;
const SEARCHER = `export default async ([{ payload }], { blackboard }) => ({ found: (await blackboard.list({ type: ['Blob'], limit: payload.limit })).length });`;

describe('an answer', () => {
  let agents: Receiver;
  let models: ModelServer;
  let board: Board;
  let memory: AnswerMemory;

  beforeAll(async () => {
    agents = await Receiver.start();
    models = await ModelServer.start();
    board = await Board.start(config(agents, models), {
      files: { 'writer.js': WRITER, 'searcher.js': SEARCHER },
      settings: { memoryBudgetBytes: 16 * MIB },
    });
    memory = board.app.app.get(AnswerMemory, { strict: false });
  });

  afterEach(() => eventually('all memory is free', () => memory.usedBytes === 0 && !memory.isWaitedFor));

  afterAll(async () => {
    await board.close();
    await agents.close();
    await models.close();
  });

  async function errorOf(type: string, payload: object): Promise<string> {
    const correlation = await board.publish(type, payload);
    expect(await board.ended(correlation)).toMatchObject({ state: 'failed' });
    const errors = await board.artifacts(correlation, { type: 'WorkflowError' });
    return errors
      .map(({ payload: { error_type, error_message } }) => `${error_type as string}: ${error_message as string}`)
      .join();
  }

  it('of a function has payloads of at most body_limit', async () => {
    expect(await board.publishSync('Wanted', { length: MIB - 11 })).toMatchObject({
      completed: true,
      artifacts: [{ type: 'Text' }],
    });
    expect(await errorOf('Wanted', { length: MIB - 10 })).toBe(
      'output: the payload of Text has 1048577 bytes, and body_limit allows 1048576',
    );
  });

  it('of a remote agent has the same limit, whatever max_answer says', async () => {
    agents.on('/remote', replies({ text: 'x'.repeat(MIB) }));
    expect(await errorOf('Question', {})).toBe(
      'output: the payload of Reply has 1048587 bytes, and body_limit allows 1048576',
    );
  });

  it('of a remote agent is parsed when there is memory for it, and refused if it can never fit', async () => {
    agents.on('/remote', replies({ items: Array.from({ length: 30_000 }, () => ({})) }));
    const correlations = await Promise.all(Array.from({ length: 6 }, (_, n) => board.publish('Question', { n })));
    for (const correlation of correlations)
      expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    agents.on('/remote', replies({ items: Array.from({ length: 100_000 }, () => ({})) }));
    expect(await errorOf('Question', {})).toMatch(
      /^output: the answer needs \d+ MiB of memory, but memory_budget allows 7 MiB for one answer; raise it, or send a smaller answer$/,
    );
  });

  it('of the blackboard to an agent is limited by its size in memory', async () => {
    const blob = { items: Array.from({ length: 33_000 }, () => ({})) };
    for (let n = 0; n < 14; n += 1) await board.publish('Blob', blob);
    expect(await board.publishSync('Search', { limit: 3 })).toMatchObject({ artifacts: [{ payload: { found: 3 } }] });
    expect(await errorOf('Search', { limit: 14 })).toBe(
      'DomainError: limit: the payloads that were found take more than 32 MiB of memory together; use a smaller limit',
    );
  });

  it('of a model is limited', async () => {
    models.answers({ text: JSON.stringify({ text: 'x'.repeat(MIB) }) });
    expect(await errorOf('Topic', {})).toBe('output: the model wrote more than 1048576 characters');
  });
});
