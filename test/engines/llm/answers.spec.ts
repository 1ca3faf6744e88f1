// Uses the application, the AI SDK and its providers, and HTTP. The model servers are stand-ins.
import { Board } from '../../e2e/board.js';
import type { TestAppOptions } from '../../support/app.js';
import { SseReader } from '../../support/changelog-readers.js';
import { eventually } from '../../support/eventually.js';
import { ManualClock } from '../../support/manual-clock.js';
import { ModelServer, USED } from '../../support/model-server.js';
import { engine, errorOf, KEYS, MODELS, responder, setKeys, startWithModels, TYPES } from './llm-board.js';

const REPLY = { text: 'It is on its way.', mood: 'glad' };

describe.each(MODELS)('%s', (model) => {
  let models: ModelServer;
  let board: Board;
  let close: () => Promise<void>;
  beforeAll(
    async () =>
      ({ models, board, close } = await startWithModels((server) =>
        responder(server, 'temperature: 0.5, max_output_tokens: 300', model),
      )),
  );
  afterAll(() => close());

  const ask = async (text = 'Where is my parcel?') => (await board.publishSync('Question', { text })).artifacts;
  const failure = async (): Promise<Record<string, unknown>> => {
    const correlation = await board.publish('Question', { text: 'Where is my parcel?' });
    expect((await board.ended(correlation)).state).toBe('failed');
    return errorOf(board, correlation);
  };

  test("is asked once, streamed, with the schema of the agent's outputs", async () => {
    models.answers({ text: JSON.stringify(REPLY) });
    expect((await ask()).map(({ type, payload, produced_by }) => ({ type, payload, produced_by }))).toEqual([
      { type: 'Reply', payload: REPLY, produced_by: 'responder' },
    ]);
    expect(models.requests).toHaveLength(1);
    const { body, path, text, format } = models.requests[0]!;
    const name = model.split('/')[1];
    if (format === 'content') expect(path).toContain(`/${name}:stream`);
    else expect(body).toMatchObject({ model: name, stream: true });
    // A reasoning model accepts no temperature; the call logs that and succeeds.
    const leftOut = board.app.logLines.filter(({ msg }) => msg === 'the provider reports a limitation (logged once)');
    expect([
      ((body.generationConfig as typeof body | undefined) ?? body).temperature,
      leftOut.map(({ warning }) => warning),
    ]).toEqual(model === 'openai/gpt-5-mini' ? [undefined, [expect.stringContaining('temperature')]] : [0.5, []]);
    expect(text).toContain('"enum":["glad","sad"]');
    expect(JSON.stringify(Object.values(body))).toContain('300');
  });

  test.each([
    ['not JSON', 'I would say: soon!', /^Your answer was refused: it is not JSON: .+/],
    [
      'JSON that the schema refuses',
      '{"text":"no","mood":"angry"}',
      /^Your answer was refused: Reply refuses its payload: payload\.text: must NOT have fewer than 3 characters; payload\.mood: must be one of "glad", "sad"/,
    ],
    ['a list', '[]', /^Your answer was refused: it must be a JSON object/],
  ])('an answer that is %s is sent back once with the reason', async (_, wrong, reason) => {
    models.answers({ text: wrong }, { text: JSON.stringify(REPLY) });
    expect((await ask()).map(({ payload }) => payload)).toEqual([REPLY]);
    expect(models.requests).toHaveLength(2);
    const sentBack = textsOf(models.requests[1]!.body);
    expect(sentBack.slice(0, -2)).toEqual(textsOf(models.requests[0]!.body));
    expect(sentBack.at(-2)).toBe(wrong);
    expect(sentBack.at(-1)).toMatch(reason);
    const [used] = await board.app.database.rows<{ input_tokens: number }>(
      'select input_tokens from usage order by seq desc limit 1',
    );
    expect(used!.input_tokens).toBe(2 * USED.input);
  });

  test('one that is refused again is a failed attempt', async () => {
    models.answers({ text: '{"text":"no"}' }, { text: '{}' });
    expect(await failure()).toMatchObject({
      error_type: 'output',
      error_message: "the model's answer was refused twice: Reply refuses its payload: payload.text: is required",
    });
    expect(models.requests).toHaveLength(2);
  });

  const provider = model.split('/')[0];
  test.each([
    ['a refusal', { refusal: 'I will not.' }, 'refusal', 'the model refused to answer'],
    [
      'an answer that is cut off',
      { text: '{"text":"It is', stop: 'length' },
      'output',
      'the answer was cut off at max_output_tokens (300); raise it',
    ],
    [
      'a stream that is cut',
      { text: JSON.stringify(REPLY), fault: 'cut' },
      'model',
      new RegExp(`^${provider} sent no complete answer: `),
    ],
    ['an error halfway', { text: JSON.stringify(REPLY), fault: 'error' }, 'model', /the server had an error halfway/],
    ['500', { status: 500, message: 'out of order' }, 'model', `${provider} answered 500: out of order`],
    ['429', { status: 429, message: 'too many' }, 'rate_limit', `${provider} answered 429: too many`],
  ] as const)('%s is a failed attempt, asked for once', async (_, answer, type, message) => {
    models.answers(answer);
    expect(await failure()).toMatchObject({
      error_type: type,
      error_message: typeof message === 'string' ? message : expect.stringMatching(message),
    });
    expect(models.requests).toHaveLength(1);
  });

  test('a key that is refused is named by its variable, and never shown', async () => {
    const key = Object.values(KEYS)[MODELS.indexOf(model)]!;
    const variable = Object.keys(KEYS)[MODELS.indexOf(model)];
    models.answers({ status: 401, message: `Incorrect API key provided: ${key}` });
    expect((await failure()).error_message).toBe(`${provider} refuses the key in ${variable} (401)`);
    models.answers({ status: 400, message: `what is ${key}?` });
    expect((await failure()).error_message).toBe(`${provider} answered 400: what is [key]?`);
    models.answers({ text: JSON.stringify({ text: `The key is ${key}` }) });
    expect((await ask())[0]!.payload).toEqual({ text: 'The key is [key]' });

    expect(JSON.stringify(models.requests[0]!.headers)).toContain(key);
    expect(models.requests.map(({ text }) => text).join()).not.toContain(key);
    expect(JSON.stringify(board.app.logLines)).not.toContain(key);
    const rows = await board.app.database.look(async (query) => [
      await query('select * from artifacts'),
      await query('select * from executions'),
      await query('select * from usage'),
    ]);
    expect(JSON.stringify(rows)).not.toContain(key);
  });
});

/** Returns the texts of a conversation, in order, without the instructions. */
function textsOf(body: Record<string, unknown>): string[] {
  const messages = (body.input ?? body.messages ?? body.contents) as {
    role: string;
    content?: string | { text: string }[];
    parts: { text: string }[];
  }[];
  return messages
    .filter(({ role }) => role !== 'system' && role !== 'developer')
    .map(({ parts, content = parts }) =>
      typeof content === 'string' ? content : content.map(({ text }) => text).join(''),
    );
}

describe('with one model', () => {
  let models: ModelServer;
  const boards: Board[] = [];
  beforeAll(async () => {
    setKeys();
    models = await ModelServer.start();
  });
  afterAll(async () => {
    await Promise.all(boards.map((board) => board.close()));
    await models.close();
  });
  const start = async (config: string, options: TestAppOptions = {}): Promise<Board> => {
    const board = await Board.start(config, options);
    boards.push(board);
    return board;
  };

  test('an agent that publishes several types gets one schema for all, with valid references, and may omit some', async () => {
    const board = await start(`
types:
  Tree: { schema: { type: object, required: [root], properties: { root: { $ref: '#/$defs/node' } }, $defs: { node: { type: object, properties: { name: { type: string }, below: { type: array, items: { $ref: '#/$defs/node' } } } } } } }
  Note: { description: What to remember, schema: { type: object, required: [text], properties: { text: { type: string } } } }
agents:
  gardener: { consumes: [{ types: [Seed] }], publishes: [{ type: Tree }, { type: Note }, { type: Leaf }], engine: ${engine(models)} }
`);
    const tree = { root: { name: 'oak', below: [{ name: 'branch' }] } };
    models.answers({ text: JSON.stringify({ Tree: tree, Leaf: { green: true } }) });
    const { artifacts } = await board.publishSync('Seed', {});
    expect(artifacts.map(({ type, payload }) => ({ type, payload }))).toEqual([
      { type: 'Tree', payload: tree },
      { type: 'Leaf', payload: { green: true } },
    ]);
    const { schema } = (
      models.requests[0]!.body as { text: { format: { schema: { properties: Record<string, never> } } } }
    ).text.format;
    expect(schema).toMatchObject({
      additionalProperties: false,
      properties: {
        Tree: {
          properties: { root: { $ref: '#/properties/Tree/$defs/node' } },
          $defs: { node: { properties: { below: { items: { $ref: '#/properties/Tree/$defs/node' } } } } },
        },
        Note: { type: 'object', description: 'What to remember' },
        Leaf: { type: 'object' },
      },
    });
  });

  test('a model without structured output is asked by other means', async () => {
    const board = await start(responder(models, '', 'anthropic/claude-3-haiku-20240307'));
    models.answers({ text: JSON.stringify(REPLY) });
    expect((await board.publishSync('Question', { text: 'Where?' })).artifacts.map(({ payload }) => payload)).toEqual([
      REPLY,
    ]);
    expect(models.requests[0]!.body).toMatchObject({ tools: [{ name: 'json' }] });
  });

  test('the timeout of an attempt applies to the model too, and the call is aborted', async () => {
    const clock = new ManualClock();
    const board = await start(responder(models, '', MODELS[0], 'timeout: 300ms, retry: { attempts: 1 }'), {
      clock,
      settings: { shutdownGraceMs: 0 },
    });
    models.abandoned = 0;
    models.answers({ text: '{"text":"late"}', halfway: new Promise(() => undefined) });
    const correlation = await board.publish('Question', { text: 'Now?' });
    await eventually('the model is asked', () => models.requests.length === 1);
    clock.advance(300);
    await board.ended(correlation);
    expect(await errorOf(board, correlation)).toMatchObject({
      error_type: 'timeout',
      error_message: 'no answer within 0.3 s',
    });
    await eventually('the call was aborted', () => models.abandoned === 1);
  });

  test('cancelling aborts the call', async () => {
    const board = await start(responder(models));
    models.abandoned = 0;
    models.answers({ text: '{"text":"late"}', before: new Promise(() => undefined) });
    const correlation = await board.publish('Question', { text: 'Now?' });
    await eventually('the model is asked', () => models.requests.length === 1);
    await board.http.post(`/api/v1/correlations/${correlation}/cancel`).expect(200);
    await eventually('the call was aborted', () => models.abandoned === 1);
    expect(await board.types(correlation)).toEqual(['Question']);
  });

  test.each([
    ['seconds', { 'retry-after': '90' }, 90_000],
    ['a date', { date: 'Fri, 20 Nov 2026 10:00:00 GMT', 'retry-after': 'Fri, 20 Nov 2026 10:02:00 GMT' }, 120_000],
    ['more than an hour', { 'retry-after': '100000' }, 3_600_000],
  ] as const)('the next attempt waits as long as the provider asks for: %s', async (_, headers, waits) => {
    const clock = new ManualClock();
    const board = await start(responder(models, '', MODELS[0], 'retry: { attempts: 2, delay: 1s }'), {
      clock,
      settings: { shutdownGraceMs: 0 },
    });
    models.answers({ status: 429, message: 'later', headers }, { text: JSON.stringify(REPLY) });
    const correlation = await board.publish('Question', { text: 'Now?' });
    const waiting = async (): Promise<number | undefined> =>
      (await board.app.database.rows<{ available_at: number | null }>('select available_at from executions'))[0]
        ?.available_at ?? undefined;
    await eventually('it waits', async () => ((await waiting()) ?? 0) > clock.now());
    expect((await waiting())! - clock.now()).toBe(waits);
    clock.advance(waits);
    expect((await board.ended(correlation)).state).toBe('completed');
  });

  test('its text is shown on the changelog while it is written', async () => {
    const board = await start(responder(models));
    const reader = await SseReader.open(board.app.url, { live: true });
    let release = (): void => undefined;
    models.answers(
      { text: '{"text":"no"}' },
      { text: JSON.stringify(REPLY), halfway: new Promise((resolve) => (release = () => resolve())) },
    );
    const correlation = await board.publish('Question', { text: 'Now?' });
    const said = (): { answer: number; text: string; agent: string; correlation_id: string }[] =>
      reader.liveEvents.filter(({ event_type }) => event_type === 'execution_output') as never;
    const textOf = (answer: number): string =>
      said()
        .filter((piece) => piece.answer === answer)
        .map(({ text }) => text)
        .join('');
    await eventually('the first half is shown', () => textOf(2).length > 5);
    expect((await board.status(correlation)).state).toBe('active');
    expect(JSON.stringify(REPLY).startsWith(textOf(2))).toBe(true);
    release();
    await board.ended(correlation);
    await eventually('all is shown', () => textOf(2) === JSON.stringify(REPLY));
    expect(textOf(1)).toBe('{"text":"no"}');
    expect(said()[0]).toMatchObject({ agent: 'responder', attempt: 1, correlation_id: correlation });
    reader.close();
  });

  test('a key that it writes in pieces is not shown, and not stored in another spelling', async () => {
    const board = await start(responder(models, '', 'local/llama3.2'));
    const reader = await SseReader.open(board.app.url, { live: true });
    const key = KEYS.LOCAL_API_KEY;
    // The first pieces end within the key, and a text that only begins like it is not a secret.
    const said = { text: `${key}${key}, and ${key.slice(0, 7)}`, more: key.slice(0, -1) };
    models.answers({ text: JSON.stringify(said) }, { text: JSON.stringify({ text: key }).replace('l', '\\u006c') });
    const shown = (correlation: string): string =>
      (
        reader.liveEvents.filter(
          ({ event_type: type, correlation_id: id }) => type === 'execution_output' && id === correlation,
        ) as never as { text: string }[]
      )
        .map(({ text }) => text)
        .join('');

    const { correlation_id: pieces, artifacts } = await board.publishSync('Question', { text: 'What is it?' });
    const kept = { ...said, text: `[key][key], and ${key.slice(0, 7)}` };
    expect(artifacts[0]!.payload).toEqual(kept);
    await eventually('all is shown', () => shown(pieces).endsWith('}'));
    expect(shown(pieces)).toBe(JSON.stringify(kept));
    expect((await board.publishSync('Question', { text: 'What is it?' })).artifacts[0]!.payload).toEqual({
      text: '[key]',
    });
    reader.close();
  });

  test('one that reports no usage is logged once, because no budget can count it', async () => {
    const board = await start(`budget: { tokens: 5000 }\n${responder(models, '', 'local/llama3.2')}`);
    const warnings = () =>
      board.app.logLines
        .filter(({ level, warning }) => level === 40 && warning !== undefined)
        .map(({ model, warning }) => [model, warning]);
    models.answers({ text: JSON.stringify(REPLY), untold: true });
    for (const text of ['Where?', 'When?'])
      expect((await board.publishSync('Question', { text })).artifacts.map(({ payload }) => payload)).toEqual([REPLY]);
    expect(warnings()).toEqual([
      [
        'local/llama3.2',
        'the provider does not report tokens: without a budget a call counts as zero, with a budget as all tokens reserved for it',
      ],
    ]);
  });

  test('a server that does not exist is a failed attempt', async () => {
    const gone = await ModelServer.start();
    const board = await start(responder(gone));
    await gone.close();
    const correlation = await board.publish('Question', { text: 'Anyone?' });
    await board.ended(correlation);
    expect(await errorOf(board, correlation)).toMatchObject({
      error_type: 'model',
      error_message: expect.stringMatching(/^openai sent no complete answer: .*ECONNREFUSED/),
    });
  });

  test('without its key an agent fails at its first attempt and says why', async () => {
    delete process.env.OPENAI_API_KEY;
    const board = await start(
      `${TYPES}\nagents: { a: { consumes: [{ types: [Question] }], publishes: [{ type: Reply }], retry: { attempts: 5, delay: 1h }, engine: ${engine(models)} } }`,
    );
    setKeys();
    const correlation = await board.publish('Question', { text: 'Who?' });
    await board.ended(correlation);
    expect(await errorOf(board, correlation)).toMatchObject({
      error_message: "the environment variable OPENAI_API_KEY is not set in Starling's environment",
      error_type: 'model',
      attempts: 1,
    });
  });
});
