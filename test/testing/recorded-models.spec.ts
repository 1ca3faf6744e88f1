import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { startTestKit, type TestKit } from '../../src/testing/testing.js';
import { ConfigurationFolder } from '../support/configuration-folder.js';
import { ModelServer } from '../support/model-server.js';

const KEY = 'sk-a-secret-of-this-suite';

/** A model server with the wire format of OpenAI stands in for the provider; everything else is real. */
describe('models in the test kit', () => {
  const folder = new ConfigurationFolder();
  let models: ModelServer;
  let file: string;
  let recordings: string;

  beforeAll(async () => {
    models = await ModelServer.start(({ text }) => ({
      text: JSON.stringify({ text: `Dear ${/Ada|Bob/.exec(text)![0]}!` }),
    }));
  });
  beforeEach(() => {
    models.requests.length = 0;
    recordings = join(folder.path, `${Math.random()}.json`);
    file = configuration('Write a letter.');
  });
  afterEach(() => {
    delete process.env.RECORD_MODELS;
    delete process.env.OPENAI_API_KEY;
  });
  afterAll(async () => {
    await models.close();
    folder.remove();
  });

  const configuration = (instructions: string): string =>
    folder.write(
      'starling.yaml',
      `
models: { openai/gpt-5-mini: { input_per_million: 1, output_per_million: 2 } }
types:
  Customer: {}
  Letter: { schema: { type: object, required: [text], properties: { text: { type: string } } } }
agents:
  writer:
    consumes: [{ types: [Customer] }]
    publishes: [{ type: Letter }]
    retry: { attempts: 1 }
    engine: { kind: llm, model: openai/gpt-5-mini, base_url: '${models.url}', instructions: ${instructions} }
`,
    );

  async function withKit<T>(work: (kit: TestKit) => Promise<T>, withFile = true): Promise<T> {
    await using kit = await startTestKit(file, withFile ? { recordings } : {});
    return await work(kit);
  }

  const letterTo = (name: string) => (kit: TestKit) =>
    kit.publish('Customer', { name }).then((run) => run.first('Letter').payload);

  const record = async (name: string): Promise<void> => {
    Object.assign(process.env, { RECORD_MODELS: '1', OPENAI_API_KEY: KEY });
    expect(await withKit(letterTo(name))).toEqual({ text: `Dear ${name}!` });
    delete process.env.RECORD_MODELS;
    delete process.env.OPENAI_API_KEY;
  };

  it('are recorded once, and then answer from the file without a key or a server', async () => {
    await record('Ada');
    await record('Ada');
    expect(models.requests).toHaveLength(1);
    expect(await withKit(letterTo('Ada'))).toEqual({ text: 'Dear Ada!' });
    expect(models.requests).toHaveLength(1);

    await record('Bob');
    expect(await withKit(letterTo('Ada'))).toEqual({ text: 'Dear Ada!' });
    expect(await withKit(letterTo('Bob'))).toEqual({ text: 'Dear Bob!' });
    expect(models.requests).toHaveLength(2);
  });

  it('report the recorded tokens and their cost', async () => {
    await record('Ada');
    const usage = await withKit(async (kit) => {
      const { correlationId } = await kit.publish('Customer', { name: 'Ada' });
      return fetch(`${kit.url}/api/v1/correlations/${correlationId}/status`).then((answer) => answer.json());
    });
    expect(usage).toMatchObject({ usage: { input_tokens: 100, output_tokens: 20, cost: 0.00014 } });
  });

  it('are recorded in a file that is short, without the key, and the same each time', async () => {
    await record('Ada');
    const text = readFileSync(recordings, 'utf8');
    expect(text).not.toContain(KEY);
    const { recordings: kept } = JSON.parse(text) as { recordings: { answer: { type: string; delta?: string }[] }[] };
    expect(kept).toMatchObject([{ agent: 'writer', model: 'openai/gpt-5-mini' }]);
    expect(kept[0]!.answer.flatMap(({ delta }) => delta ?? [])).toEqual(['{"text":"Dear Ada!"}']);
    recordings = `${recordings}.again`;
    await record('Ada');
    expect(readFileSync(recordings, 'utf8')).toBe(text);
  });

  it('fail on a request that is not recorded, which names the agent and how to record it', async () => {
    await record('Ada');
    await expect(withKit(letterTo('Bob'))).rejects.toThrow(
      `this request of writer to openai/gpt-5-mini is not recorded in ${recordings}: run the test with RECORD_MODELS=1 to record it, which needs OPENAI_API_KEY`,
    );
    // Other instructions are another request.
    file = configuration('Write a short letter.');
    await expect(withKit(letterTo('Ada'))).rejects.toThrow('is not recorded');
    expect(models.requests).toHaveLength(1);
  });

  it('fail without recordings, with or without a key, unless the agent has an answer', async () => {
    Object.assign(process.env, { OPENAI_API_KEY: KEY });
    await expect(withKit(letterTo('Ada'), false)).rejects.toThrow(
      'writer asks the model openai/gpt-5-mini: give it an answer with TestKit.answer',
    );
    const answered = withKit((kit) => {
      kit.answer('writer', { text: 'Hello' });
      return letterTo('Ada')(kit);
    }, false);
    expect(await answered).toEqual({ text: 'Hello' });
    expect(models.requests).toEqual([]);
  });

  it('record nothing when the provider fails, or when the key is missing', async () => {
    process.env.RECORD_MODELS = '1';
    const fails = (kit: TestKit) => kit.publish('Customer', { name: 'Ada' }).then(({ errors }) => errors);
    expect(await withKit(fails)).toMatchObject([
      { error_message: "the environment variable OPENAI_API_KEY is not set in Starling's environment" },
    ]);
    process.env.OPENAI_API_KEY = KEY;
    const { script } = models;
    models.script = () => ({ status: 500, message: 'out of order' });
    expect(await withKit(fails)).toMatchObject([{ failed_agent: 'writer' }]);
    models.script = () => ({ text: '{"text":"Dear', fault: 'cut' });
    expect(await withKit(fails)).toMatchObject([{ failed_agent: 'writer' }]);
    models.script = script;
    expect(existsSync(recordings)).toBe(false);
  });

  it('refuse a file that has something else', async () => {
    writeFileSync(recordings, '[]');
    const run = await withKit((kit) => kit.publish('Customer', { name: 'Ada' }));
    expect(run.errors).toMatchObject([
      { error_message: expect.stringContaining('has no recordings; delete the file') },
    ]);
  });
});
