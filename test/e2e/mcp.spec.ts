// Uses the official client of the Model Context Protocol against the application, its database and HTTP.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';

import { eventually } from '../support/eventually.js';
import { printedSeed } from '../support/random.js';
import { Board, type SyncAnswer } from './board.js';

const CONFIG = `
types:
  Question:
    description: What a customer asks
    schema:
      type: object
      required: [text]
      properties: { text: { type: string, minLength: 2 }, about: { $ref: '#/$defs/topic' } }
      $defs: { topic: { type: object, required: [name], properties: { name: { type: string }, within: { $ref: '#/$defs/topic' } } } }
  Order: { schema: { $schema: 'http://json-schema.org/draft-07/schema#', type: object, required: [n], properties: { n: { type: number } } } }
  Price: { schema: { type: object, required: [euros], properties: { euros: { type: number } } } }
agents:
  answerer:
    description: Answers customers
    consumes: [{ types: [Question] }]
    publishes: [{ type: Answer }]
    engine: { kind: expression, expression: '{"text": payload.text}' }
  joiner:
    consumes: [{ types: [Order, Price] }, { types: [Order, Price], mode: any }]
    publishes: [{ type: Quote }]
    engine: { kind: expression, expression: '{"first": artifact.type}' }
  waiter:
    consumes: [{ types: [Slow] }]
    publishes: [{ type: Late }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  reviewer:
    consumes: [{ types: [Answer], from_agents: [answerer] }]
    publishes: [{ type: Review }]
    engine: { kind: expression, expression: '{"good": payload.text.size() > 3}' }
  breaker:
    consumes: [{ types: [Trouble, WorkflowError], mode: any }]
    publishes: [{ type: Never }]
    engine: { kind: expression, expression: payload.missing }
    retry: { attempts: 1 }
`;

const BODY_LIMIT = 20_000;
const TEXT = { text: 'Where is it?' };

async function connect(board: Board): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${board.app.url}/mcp`)));
  return client;
}

describe('the service as an MCP server', () => {
  let board: Board;
  let client: Client;

  beforeAll(async () => {
    board = await Board.start(CONFIG, { settings: { serverName: 'Support <desk>', bodyLimitBytes: BODY_LIMIT } });
    client = await connect(board);
  });
  afterAll(async () => {
    await client.close();
    await board.close();
  });

  const call = async (name: string, given: object = {}): Promise<CallToolResult> =>
    (await client.callTool({ name, arguments: given as Record<string, unknown> })) as CallToolResult;

  /** Returns the answer of a tool, whose text must be the same. */
  async function ask<T>(name: string, given: object = {}): Promise<T> {
    const { content, structuredContent, isError } = await call(name, given);
    expect([isError, content.length]).toEqual([undefined, 1]);
    expect(JSON.parse((content[0] as { text: string }).text)).toEqual(structuredContent);
    return structuredContent as T;
  }

  async function refusal(name: string, given: object): Promise<string> {
    const { content, structuredContent, isError } = await call(name, given);
    expect([isError, structuredContent, content]).toEqual([
      true,
      undefined,
      [{ type: 'text', text: expect.any(String) as string }],
    ]);
    return (content[0] as { text: string }).text;
  }

  const rest = async <T>(path: string): Promise<T> => (await board.http.get(path).expect(200)).body as T;
  const totalOf = async (type: string): Promise<number> =>
    (await rest<{ pagination: { total: number } }>(`/api/v1/artifacts?type=${type}`)).pagination.total;
  const artifactTotal = async (): Promise<number> =>
    (await rest<{ pagination: { total: number } }>('/api/v1/artifacts')).pagination.total;

  test('identifies itself, and offers a tool for each type that clients start with, for each agent, and for queries', async () => {
    expect(client.getServerVersion()).toMatchObject({ name: 'starling', title: 'Support <desk>' });
    expect(client.getInstructions()).toContain('blackboard');
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      ...['publish_Question', 'publish_Order', 'publish_Price', 'publish_Slow', 'publish_Trouble'],
      ...['run_answerer', 'run_joiner', 'run_waiter', 'run_reviewer', 'run_breaker'],
      ...[
        'get_artifact',
        'list_artifacts',
        'correlation_status',
        'get_run',
        'list_agents',
        'list_artifact_types',
        'get_artifact_type',
      ],
    ]);
    expect(tools.filter(({ annotations }) => !annotations!.readOnlyHint).map(({ name }) => name.split('_')[0])).toEqual(
      [...Array(5).fill('publish'), ...Array(5).fill('run')],
    );
    expect(tools[0]!.description).toContain('What a customer asks');
    expect(tools[5]!.description).toContain('Answers customers');
  });

  test.each<[string, object[], object[]]>([
    [
      'publish_Question',
      [
        { payload: TEXT },
        { payload: { ...TEXT, about: { name: 'a', within: { name: 'b' } } }, tags: ['x'], timeout: 5 },
      ],
      [
        {},
        { payload: { text: 'x' } },
        { payload: { ...TEXT, about: { name: 'a', within: {} } } },
        { payload: TEXT, n: 1 },
      ],
    ],
    ['publish_Order', [{ payload: { n: 1 } }], [{ payload: { n: 'one' } }]],
    [
      'run_answerer',
      [{ inputs: { ...TEXT, about: { name: 'a', within: { name: 'b' } } } }],
      [{ inputs: { ...TEXT, about: {} } }],
    ],
    [
      'run_joiner',
      [{ inputs: { Order: { n: 1 }, Price: { euros: 2 } } }, { inputs: { Price: { euros: 2 } } }],
      [{ inputs: {} }, { inputs: { Order: { n: 1 }, Price: { euros: 'two' } } }, { inputs: { n: 1 } }],
    ],
  ])(
    '%s accepts exactly what the schemas of its types allow, and its own schema says so',
    async (name, allowed, refused) => {
      const { inputSchema } = (await client.listTools()).tools.find((tool) => tool.name === name)!;
      const validates = (given: object): boolean =>
        new (inputSchema.$schema ? Ajv : Ajv2020)({ strict: false }).validate(inputSchema, given);
      expect([allowed.map(validates), refused.map(validates)]).toEqual([
        allowed.map(() => true),
        refused.map(() => false),
      ]);
      expect(await Promise.all(allowed.map(async (given) => (await call(name, given)).isError))).toEqual(
        allowed.map(() => undefined),
      );
      expect(await Promise.all(refused.map(async (given) => (await call(name, given)).isError))).toEqual(
        refused.map(() => true),
      );
    },
  );

  test('a publish waits for the whole cascade, and its results can be queried', async () => {
    const published = await ask<SyncAnswer>('publish_Question', {
      payload: TEXT,
      correlation_id: 'ticket-17',
      tags: ['vip'],
      partition_key: 'p',
    });
    expect(published).toMatchObject({
      correlation_id: 'ticket-17',
      completed: true,
      artifacts: [
        { type: 'Answer', payload: TEXT },
        { type: 'Review', payload: { good: true } },
      ],
    });
    expect(await ask('correlation_status', { correlation_id: 'ticket-17' })).toEqual(
      await rest('/api/v1/correlations/ticket-17/status'),
    );
    expect(await ask('get_artifact', { artifact_id: published.artifacts[0]!.id })).toEqual(published.artifacts[0]);
    const query = { correlation_id: 'ticket-17', type: ['Question', 'Review'], order: 'desc', limit: 10 };
    expect(await ask('list_artifacts', query)).toEqual(
      await rest('/api/v1/artifacts?correlation_id=ticket-17&type=Question&type=Review&order=desc&limit=10'),
    );
    expect((await ask<{ items: object[] }>('list_artifacts', query)).items).toMatchObject([
      { type: 'Review' },
      { type: 'Question', tags: ['vip'], partition_key: 'p' },
    ]);
    expect(await ask('list_agents')).toEqual(await rest('/api/v1/agents'));
    const { artifact_types: types } = await ask<{ artifact_types: { name: string }[] }>('list_artifact_types');
    expect(types).toContainEqual({ name: 'Question', version: 1, description: 'What a customer asks' });
    expect(await ask('get_artifact_type', { type: 'Price' })).toMatchObject({
      name: 'Price',
      schema: { required: ['euros'] },
    });
    expect(board.app.logLines).toContainEqual(
      expect.objectContaining({ path: '/mcp', correlation_id: 'ticket-17', status: 200 }),
    );
  });

  test('a run waits for its result, and reports the reason of a failure', async () => {
    const run = await ask<{ run_id: string }>('run_answerer', { inputs: TEXT, correlation_id: 'run-1' });
    expect(run).toMatchObject({ run_id: 'run-1', status: 'completed', result: { good: true } });
    expect(await ask('get_run', { run_id: 'run-1' })).toEqual(run);
    expect(await rest('/run/run-1')).toEqual(run);
    expect(await ask('run_breaker', { inputs: { Trouble: {} } })).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('breaker') as string,
    });
  });

  test('unfinished work continues, whether its client waits, has cancelled or has disconnected', async () => {
    await board.http.post('/api/v1/agents/waiter/pause').expect(200);
    const third = { payload: { n: 3 }, correlation_id: 'slow-3', idempotency_key: 'third' };
    const leaving = await connect(board);
    const cancelling = new AbortController();
    const abandoned = leaving.callTool({ name: 'publish_Slow', arguments: third }).catch(() => 'abandoned');
    const cancelled = client
      .callTool({ name: 'run_waiter', arguments: { inputs: { n: 4 }, correlation_id: 'slow-4' } }, undefined, {
        signal: cancelling.signal,
      })
      .catch(() => 'cancelled');
    const [published, run] = await Promise.all([
      ask('publish_Slow', { payload: { n: 1 }, correlation_id: 'slow-1', timeout: 1 }),
      ask('run_waiter', { inputs: { n: 2 }, correlation_id: 'slow-2', timeout: 1 }),
    ]);
    expect(published).toMatchObject({ correlation_id: 'slow-1', completed: false, artifacts: [] });
    expect(run).toEqual({ run_id: 'slow-2', status: 'starting' });
    for (const correlation of ['slow-3', 'slow-4'])
      await eventually(`${correlation} is stored`, async () => (await board.status(correlation)).state === 'active');
    cancelling.abort();
    await leaving.close();
    expect([await abandoned, await cancelled]).toEqual(['abandoned', 'cancelled']);
    await eventually('its call has finished', () =>
      board.app.logLines.some(({ path, aborted }) => path === '/mcp' && aborted === true),
    );
    await board.http.post('/api/v1/agents/waiter/resume').expect(200);
    for (const correlation of ['slow-1', 'slow-2', 'slow-3', 'slow-4'])
      expect(await board.ended(correlation)).toMatchObject({ state: 'completed' });
    expect(await ask('get_run', { run_id: 'slow-2' })).toMatchObject({ status: 'completed', result: { n: 2 } });
    // A client that comes back with the key gets the answer that was not delivered.
    expect(await ask('publish_Slow', third)).toMatchObject({
      correlation_id: 'slow-3',
      completed: true,
      artifacts: [{ payload: { n: 3 } }],
    });
    expect(await totalOf('Slow')).toBe(4);
  });

  test('calls with the same idempotency key are processed once, by publish and by run', async () => {
    const before = [await totalOf('Price'), await totalOf('Question')];
    const price = { payload: { euros: 7 }, idempotency_key: 'same' };
    const answers = await Promise.all(Array.from({ length: 10 }, () => call('publish_Price', price)));
    expect(new Set(answers.map(({ structuredContent }) => JSON.stringify(structuredContent))).size).toBe(1);
    expect(answers.filter(({ _meta }) => _meta?.['starling/replayed'] === true)).toHaveLength(9);
    const other = await call('publish_Price', { ...price, payload: { euros: 8 } });
    expect([other.structuredContent, other.content[1]]).toEqual([
      answers[0]!.structuredContent,
      { type: 'text', text: expect.stringContaining('other arguments') as string },
    ]);

    const [first, second] = [
      await ask('run_answerer', { inputs: TEXT, idempotency_key: 'same' }),
      await ask('run_answerer', { inputs: TEXT, idempotency_key: 'same' }),
    ];
    expect(second).toEqual(first);
    expect([await totalOf('Price'), await totalOf('Question')]).toEqual([before[0]! + 1, before[1]! + 1]);
  });

  test.each<[string, object, string, () => PromiseLike<{ body: unknown }>]>([
    [
      'publish_Question',
      { payload: { text: 7 }, timeout: 301 },
      'a wrong argument',
      () => board.http.post('/api/v1/artifacts/sync').send({ type: 'Question', payload: { text: 7 }, timeout: 301 }),
    ],
    [
      'publish_Question',
      { payload: { text: 7 } },
      'a payload that its type refuses',
      () => board.http.post('/api/v1/artifacts/sync').send({ type: 'Question', payload: { text: 7 } }),
    ],
    [
      'publish_Question',
      { payload: 'text', tags: [''], deadline: 'soon' },
      'several wrong arguments',
      () =>
        board.http
          .post('/api/v1/artifacts/sync')
          .send({ type: 'Question', payload: 'text', tags: [''], deadline: 'soon' }),
    ],
    [
      'publish_Question',
      { payload: TEXT, correlation_id: 'run-1' },
      'a closed correlation',
      () =>
        board.http
          .post('/api/v1/artifacts/sync')
          .set('X-Correlation-ID', 'run-1')
          .send({ type: 'Question', payload: TEXT }),
    ],
    [
      'run_answerer',
      { inputs: TEXT, correlation_id: 'run-1' },
      'a correlation that is taken',
      () =>
        board.http.post('/run/flock').set('X-Correlation-ID', 'run-1').send({ agent_name: 'answerer', inputs: TEXT }),
    ],
    [
      'run_joiner',
      { inputs: { Order: 1 } },
      'inputs that do not fit',
      () => board.http.post('/run/flock').send({ agent_name: 'joiner', inputs: { Order: 1 } }),
    ],
    ['get_artifact', { artifact_id: '42' }, 'an id that is none', () => board.http.get('/api/v1/artifacts/42')],
    ['get_run', { run_id: 'nothing' }, 'an unknown run', () => board.http.get('/run/nothing')],
    [
      'list_artifacts',
      { limit: 501, from: 'yesterday' },
      'a wrong filter',
      () => board.http.get('/api/v1/artifacts?limit=501&from=yesterday'),
    ],
    ['list_artifacts', { after: 'x' }, 'a page behind nothing', () => board.http.get('/api/v1/artifacts?after=x')],
  ])('%s with %j is refused as a request with %s is', async (name, given, _what, request) => {
    const stored = await artifactTotal();
    const { body } = await request();
    expect({ detail: await refusal(name, given) }).toEqual(body);
    expect(await artifactTotal()).toBe(stored);
  });

  test.each<[string, object, string]>([
    [
      'publish_Question',
      { payload: TEXT, txt: 1 },
      'txt: is not an argument of publish_Question, which takes payload, tags, partition_key, timeout, deadline, correlation_id, idempotency_key',
    ],
    ['publish_Question', { payload: TEXT, type: 'Order' }, 'type: is not an argument of publish_Question'],
    [
      'publish_Question',
      { payload: TEXT, correlation_id: 'a b', idempotency_key: '' },
      'correlation_id: must be 1 to 200 visible ASCII characters; idempotency_key: must be 1 to 255 visible ASCII characters',
    ],
    ['run_answerer', { inputs: TEXT, async_run: true }, 'async_run: is not an argument of run_answerer'],
    ['list_agents', { n: 1 }, 'n: is not an argument of list_agents, which takes none'],
    ['get_artifact', {}, 'artifact_id: is required'],
    ['correlation_status', { correlation_id: ['a'] }, 'correlation_id: must be a string'],
    ['list_artifacts', { type: [{}] }, 'type: must be a string, a number, a boolean or a list of strings'],
    ['get_artifact_type', { type: 'Qestion' }, 'Artifact type not found: Qestion; did you mean Question?'],
    [
      'get_artifact_type',
      { type: 'Z'.repeat(255) },
      `Artifact type not found: ${'Z'.repeat(200)}...; list_artifact_types lists the known ones`,
    ],
    ['get_artifact_type', { type: 'Z'.repeat(256) }, 'type: must be shorter than or equal to 255 characters'],
    ['get_run', { run_id: 'Z'.repeat(256) }, 'run_id: must be shorter than or equal to 255 characters'],
    [
      'list_artifacts',
      { from: 'Z'.repeat(1_000) },
      `Invalid from: ${'Z'.repeat(200)}...; give a time such as 2026-11-24T09:00:00Z, or a date such as 2026-11-24`,
    ],
    [
      'get_artifact_type',
      { type: 'Nothing' },
      'Artifact type not found: Nothing; list_artifact_types lists the known ones',
    ],
  ])('%s with %j is refused with a sentence', async (name, given, sentence) => {
    expect(await refusal(name, given)).toContain(sentence);
  });

  test('an unknown tool is an error of the protocol, and so is an unknown method', async () => {
    await expect(call('publish_Qestion')).rejects.toMatchObject({
      code: -32602,
      message: expect.stringContaining('did you mean publish_Question?') as string,
    });
    await expect(client.listResources()).rejects.toThrow();
    const { body } = await send({ jsonrpc: '2.0', id: 'x', method: 'resources/list' });
    expect(body).toEqual({
      jsonrpc: '2.0',
      id: 'x',
      error: { code: -32601, message: 'Unknown method: resources/list' },
    });
  });

  const send = (body: unknown) => board.http.post('/mcp').send(body as object);

  test('a message is answered without a session, with JSON, whatever the client accepts; a notification has no answer', async () => {
    const listed = await send({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
      .expect(200)
      .expect('Content-Type', /^application\/json/);
    expect((listed.body as { result: { tools: Tool[] } }).result.tools).toEqual((await client.listTools()).tools);
    expect((await send({ jsonrpc: '2.0', method: 'notifications/initialized' }).expect(202)).text).toBe('');
    expect((await send({ jsonrpc: '2.0', id: 1, result: {} }).expect(202)).text).toBe('');
  });

  const INITIAL = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const LISTING = { name: 'list_agents', arguments: {} };
  const NO_TASKS = 'params.task: must be left out, because this server has no tasks';

  test.each<[string, unknown, string]>([
    ['initialize', undefined, 'params: must be an object'],
    ['initialize', {}, 'params.protocolVersion: must be a string'],
    ['initialize', { ...INITIAL, protocolVersion: 5 }, 'params.protocolVersion: must be a string'],
    ['initialize', { ...INITIAL, capabilities: undefined }, 'params.capabilities: must be an object'],
    [
      'initialize',
      { ...INITIAL, capabilities: { experimental: { x: 1 } } },
      'params.capabilities.experimental.x: must be an object',
    ],
    ['initialize', { ...INITIAL, clientInfo: { name: 'test' } }, 'params.clientInfo.version: must be a string'],
    ['initialize', { ...INITIAL, _meta: 5 }, 'params._meta: must be an object'],
    ['tools/call', { ...LISTING, task: { ttl: 1 } }, NO_TASKS],
    ['tools/call', { ...LISTING, task: 'soon' }, NO_TASKS],
    ['tools/call', { ...LISTING, _meta: [] }, 'params._meta: must be an object'],
    [
      'tools/call',
      { ...LISTING, _meta: { progressToken: {} } },
      'params._meta.progressToken: must be a value that the protocol allows',
    ],
    ['ping', { _meta: 'x' }, 'params._meta: must be an object'],
    ['tools/list', { _meta: null }, 'params._meta: must be an object'],
  ])('%s with the params %j is an error of the protocol that says what is wrong', async (method, params, message) => {
    const { body } = await send({ jsonrpc: '2.0', id: 7, method, params }).expect(200);
    expect(body).toEqual({ jsonrpc: '2.0', id: 7, error: { code: -32602, message } });
  });

  test.each<[string, () => PromiseLike<{ status: number; body: unknown }>, number, string]>([
    [
      'a GET',
      () => board.http.get('/mcp').set('Accept', 'text/event-stream'),
      405,
      'GET is not allowed at /mcp; use POST',
    ],
    [
      'no body',
      () => board.http.post('/mcp'),
      400,
      'The body must be a JSON-RPC 2.0 message, such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    ],
    [
      'malformed JSON',
      () => board.http.post('/mcp').type('json').send('{"jsonrpc"'),
      400,
      'The body is not valid JSON: ',
    ],
    [
      'another content type',
      () => board.http.post('/mcp').type('text').send('{}'),
      415,
      'Send the body as JSON in UTF-8',
    ],
    [
      'too large a body',
      () => send({ jsonrpc: '2.0', id: 1, method: 'x'.repeat(BODY_LIMIT) }),
      413,
      `The body is larger than ${BODY_LIMIT} bytes`,
    ],
    [
      'a batch',
      () => send([{ jsonrpc: '2.0', id: 1, method: 'tools/list' }]),
      400,
      'The body must be one JSON-RPC message; send the messages of a batch one by one',
    ],
    [
      'another version of the protocol',
      () => send({ jsonrpc: '2.0', id: 1, method: 'tools/list' }).set('Mcp-Protocol-Version', '1'),
      400,
      'Mcp-Protocol-Version: must be one of ',
    ],
    [
      'another origin',
      () => send({ jsonrpc: '2.0', id: 1, method: 'tools/list' }).set('Origin', 'https://evil.test'),
      403,
      'Requests from Origin https://evil.test are not allowed',
    ],
    [
      'another host',
      () => send({ jsonrpc: '2.0', id: 1, method: 'tools/list' }).set('Host', 'evil.test'),
      403,
      'Host evil.test is not allowed',
    ],
  ])('%s is refused as on other routes', async (_what, request, status, detail) => {
    const answer = await request();
    expect([answer.status, answer.body]).toEqual([status, { detail: expect.stringContaining(detail) as string }]);
  });

  test('any message is answered by the rules of JSON-RPC or refused, and never causes an internal error', async () => {
    const names = (await client.listTools()).tools
      .map(({ name }) => name)
      .filter((name) => name !== 'run_waiter' && name !== 'publish_Slow');
    const id = fc.oneof(fc.integer(), fc.string(), fc.jsonValue());
    const given = fc.dictionary(
      fc.constantFrom(
        'payload',
        'inputs',
        'timeout',
        'type',
        'limit',
        'artifact_id',
        'correlation_id',
        'tags',
        'after',
        'idempotency_key',
        'x',
      ),
      fc.oneof(fc.jsonValue(), fc.constant(TEXT), fc.constant(['a'])),
    );
    const toolCall = fc.record(
      {
        name: fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...names) }, fc.string()),
        arguments: fc.oneof({ weight: 8, arbitrary: given }, fc.jsonValue()),
      },
      { requiredKeys: [] },
    );
    const params = fc.oneof({ weight: 3, arbitrary: toolCall }, fc.jsonValue());
    const method = fc.oneof(
      { weight: 8, arbitrary: fc.constant('tools/call') },
      fc.constantFrom('initialize', 'ping', 'tools/list', 'notifications/cancelled', 'tasks/get'),
      fc.string(),
    );
    const message = fc.record(
      { jsonrpc: fc.oneof({ weight: 20, arbitrary: fc.constant('2.0') }, fc.jsonValue()), id, method, params },
      { requiredKeys: ['jsonrpc'] },
    );
    const bodies = fc.sample(fc.oneof({ weight: 20, arbitrary: message }, fc.jsonValue()), {
      seed: printedSeed(),
      numRuns: 400,
    });
    for (const body of bodies) {
      const answer = await board.http.post('/mcp').type('json').send(JSON.stringify(body));
      const shown = `${JSON.stringify(body)} → ${answer.status} ${answer.text}`;
      if (![200, 202, 400].includes(answer.status)) throw new Error(shown);
      const asked = body as { id: unknown };
      const { jsonrpc, id: answered, result, error } = answer.body as Record<string, unknown>;
      if (
        answer.status === 200 &&
        !(jsonrpc === '2.0' && answered === asked.id && (result === undefined) !== (error === undefined))
      )
        throw new Error(shown);
      if (answer.status === 400 && Object.keys(answer.body as object).join() !== 'detail') throw new Error(shown);
      if (/Internal error|-32603/.test(answer.text)) throw new Error(shown);
    }
    expect(board.app.logLines.filter(({ level }) => (level as number) >= 50)).toEqual([]);
    expect(await ask('correlation_status', { correlation_id: 'nothing' })).toMatchObject({ state: 'not_found' });
  });
});

describe('an MCP server of many types and agents', () => {
  const MANY = Array.from(
    { length: 17 },
    (_, n) =>
      `  agent-${n}: { consumes: [{ types: [Type${n}] }], publishes: [{ type: Out }], engine: { kind: expression, expression: '{"n": payload.n}' } }`,
  );
  let board: Board;
  let client: Client;

  afterEach(async () => {
    await client.close();
    await board.close();
  });

  const start = async (agents: string[], role?: object): Promise<void> => {
    board = await Board.start(`agents:\n${agents.join('\n')}\n`, role);
    client = await connect(board);
  };

  test('has one tool for all types, and one for all agents', async () => {
    await start(MANY);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).slice(0, 3)).toEqual(['publish', 'run_agent', 'get_artifact']);
    const published = await client.callTool({ name: 'publish', arguments: { type: 'Type3', payload: { n: 1 } } });
    expect(published.structuredContent).toMatchObject({
      completed: true,
      artifacts: [{ type: 'Out', payload: { n: 1 } }],
    });
    const run = await client.callTool({ name: 'run_agent', arguments: { agent_name: 'agent-16', inputs: { n: 2 } } });
    expect(run.structuredContent).toMatchObject({ status: 'completed', result: { n: 2 } });
    const unknown = await client.callTool({ name: 'publish', arguments: { type: 'Typ3', payload: {} } });
    expect(unknown).toMatchObject({
      isError: true,
      content: [{ text: 'Unknown artifact type: Typ3; did you mean Type3?' }],
    });
    const missing = await client.callTool({ name: 'run_agent', arguments: { agent_name: 'nobody', inputs: {} } });
    expect(missing).toMatchObject({ isError: true, content: [{ text: 'Agent not found: nobody' }] });
  });

  test('maps names of any characters and length to unique tool names that models accept', async () => {
    const long = 'L'.repeat(100);
    const names = ['a b', 'a_b', 'a.b', 'größe', `${long}1`, `${long}2`, 'x/y#z'];
    await start(
      names.map(
        (name) =>
          `  "${name}": { consumes: [{ types: ["${name}"] }], publishes: [{ type: Out }], engine: { kind: expression, expression: '{"from": artifact.type}' } }`,
      ),
    );
    const tools = (await client.listTools()).tools.filter(({ annotations }) => !annotations!.readOnlyHint);
    expect(new Set(tools.map(({ name }) => name)).size).toBe(2 * names.length);
    expect(tools.filter(({ name }) => !/^(publish|run)_[\w-]{1,60}$/.test(name) || name.length > 64)).toEqual([]);
    const answers = await Promise.all(
      tools.slice(0, names.length).map(({ name }) => client.callTool({ name, arguments: { payload: {} } })),
    );
    expect(
      answers.map(({ structuredContent }) => (structuredContent as unknown as SyncAnswer).artifacts[0]?.payload.from),
    ).toEqual(names);
  });
});

test('a process that serves no API is not an MCP server', async () => {
  const board = await Board.start('agents: {}\n', { role: { api: false, worker: true } });
  await board.http.post('/mcp').send({ jsonrpc: '2.0', id: 1, method: 'tools/list' }).expect(404);
  await board.close();
});
