// Answers of models and of tool servers that exceed their bounds. Uses the application, the AI SDK, the MCP SDK and HTTP.
// The servers are stand-ins.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';

import { Board } from '../../e2e/board.js';
import { eventually } from '../../support/eventually.js';
import { ModelServer } from '../../support/model-server.js';
import { errorOf, MODELS, responder, setKeys, TYPES } from './llm-board.js';

const MIB = 1_024 ** 2;
const PIECE = Buffer.alloc(64 * 1_024, 'y');

/** An HTTP server whose answers a test sets. */
class RawServer {
  /** Bytes written to the connection of the last answer. */
  written = 0;
  isClosed = false;
  answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined;

  private constructor(private readonly server: Server) {}

  static async start(): Promise<RawServer> {
    const server = createServer((request, response) => raw.answer(request, response));
    const raw = new RawServer(server);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    return raw;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Writes `piece` until the connection is closed. */
  endless(
    response: ServerResponse,
    status: number,
    headers: Record<string, string>,
    begin: string | Buffer,
    piece: Buffer,
  ): void {
    this.written = 0;
    this.isClosed = false;
    response.on('close', () => (this.isClosed = true));
    response.writeHead(status, headers).write(begin);
    const write = (): void => {
      while (!this.isClosed) {
        this.written += piece.length;
        if (!response.write(piece)) return void response.once('drain', write);
      }
    };
    write();
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

const EVENTS = { 'content-type': 'text/event-stream' };
const LINES = Buffer.from('data: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(1_024));

describe('an answer of a model that never ends', () => {
  let server: RawServer;
  let board: Board;
  beforeAll(async () => {
    setKeys();
    server = await RawServer.start();
    const agents = MODELS.map(
      (model, n) =>
        `  agent${n}: { consumes: [{ types: [Question${n}] }], publishes: [{ type: Reply }], retry: { attempts: 1 }, engine: { kind: llm, model: ${model}, base_url: "${server.url}/v1", instructions: Answer. } }`,
    );
    board = await Board.start(`${TYPES}\nagents:\n${agents.join('\n')}`);
  });
  afterAll(async () => {
    await board.close();
    await server.close();
  });

  const failure = async (model = 0): Promise<unknown> => {
    const correlation = await board.publish(`Question${model}`, {});
    expect((await board.ended(correlation)).state).toBe('failed');
    const { error_type: type, error_message: message } = await errorOf(board, correlation);
    await eventually('the connection is closed', () => server.isClosed);
    return [type, message];
  };

  test.each(MODELS.map((model, n) => [model, n] as const))('fails the attempt, from %s', async (model, n) => {
    server.answer = (_, response) => server.endless(response, 200, EVENTS, 'data: {"x":"', PIECE);
    const provider = model.split('/')[0]!;
    expect(await failure(n)).toEqual([
      'output',
      `${provider} sent too much: an event of its answer is larger than 8 MiB`,
    ]);
    // The system buffers a part.
    expect(server.written).toBeLessThan(32 * MIB);
  });

  test.each([
    ['an event of many lines', 200, EVENTS, 'data: {\r\n', LINES, 'an event of its answer is larger than 8 MiB'],
    ['JSON', 200, { 'content-type': 'application/json' }, '{"x":"', PIECE, 'its answer is larger than 8 MiB'],
    ['an error', 400, EVENTS, '{"x":"', PIECE, 'its answer is larger than 8 MiB'],
    ['no known format', 200, {}, '', Buffer.from('\n\n\n\n'.repeat(16_384)), 'its answer is larger than 32 MiB'],
    [
      'compressed data',
      200,
      { ...EVENTS, 'content-encoding': 'gzip' },
      gzipSync(Buffer.concat([Buffer.from('data: '), Buffer.alloc(9 * MIB, 'y')])),
      PIECE,
      'an event of its answer is larger than 8 MiB',
    ],
  ])('fails the attempt if it is %s', async (_, status, headers, begin, piece, message) => {
    server.answer = (_request, response) =>
      server.endless(response, status, headers as Record<string, string>, begin, piece);
    expect(await failure()).toEqual(['output', `openai sent too much: ${message}`]);
  });

  test('is read on for as long as its events end', async () => {
    const event = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`;
    const ignored = event({ type: 'response.ignored', more: 'y'.repeat(7 * MIB) });
    server.answer = (_, response) => {
      const place = { item_id: 'msg_1', output_index: 0, content_index: 0 };
      const item = { type: 'message', id: 'msg_1' };
      response
        .writeHead(200, EVENTS)
        .end(
          [
            event({ type: 'response.created', response: { id: 'resp_1', created_at: 1, model: 'gpt-5-mini' } }),
            event({ type: 'response.output_item.added', output_index: 0, item }),
            ...Array<string>(6).fill(ignored),
            event({ type: 'response.output_text.delta', ...place, delta: '{"text":"All done."}' }),
            event({ type: 'response.output_item.done', output_index: 0, item }),
            event({ type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 1 } } }),
          ].join(''),
        );
    };
    expect((await board.publishSync('Question0', {})).artifacts).toMatchObject([{ payload: { text: 'All done.' } }]);
  });
});

/** Answers a call of its tool `read` with a line that does not end, and a call of `echo` with its text. */
const PROGRAM = `
import { createInterface } from 'node:readline';
const answer = (id, result) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
const inputSchema = { type: 'object' };
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') answer(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'raw', version: '1' } });
  if (method === 'tools/list') answer(id, { tools: [{ name: 'read', inputSchema }] });
  if (method === 'tools/call') process.stdout.write('{"x":"' + 'y'.repeat(9 * 1024 ** 2));
}
`;

describe('an answer of a tool server that never ends', () => {
  let models: ModelServer;
  let server: RawServer;
  let board: Board;
  beforeAll(async () => {
    setKeys();
    models = await ModelServer.start();
    server = await RawServer.start();
  });
  afterEach(() => board.close());
  afterAll(async () => {
    await models.close();
    await server.close();
  });

  interface Message {
    id?: number;
    method: string;
    params: { protocolVersion: string; name: string };
  }

  /** The methods of the messages that came. */
  let asked: string[] = [];

  /** Answers `endless` of the messages for which `isEndless` holds. */
  function serve(isEndless: (message: Message) => boolean, endless: (response: ServerResponse) => void): void {
    asked = [];
    server.answer = (request, response) => {
      if (request.headers['last-event-id']) return endless(response);
      if (request.method !== 'POST') return void response.writeHead(405).end();
      void json(request).then((message) => {
        const { id, method, params } = message as Message;
        asked.push(method);
        if (id === undefined) return response.writeHead(202).end();
        if (isEndless(message as Message)) return endless(response);
        const results: Record<string, object> = {
          initialize: {
            protocolVersion: params?.protocolVersion,
            capabilities: { tools: {} },
            serverInfo: { name: 'raw', version: '1' },
          },
          'tools/list': { tools: ['read', 'echo'].map((name) => ({ name, inputSchema: { type: 'object' } })) },
          'tools/call': { content: [{ type: 'text', text: 'echoed' }] },
        };
        return response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] }));
      });
    };
  }

  const start = async (): Promise<void> => {
    board = await Board.start(responder(models, `tools: [{ mcp: { url: "${server.url}/mcp" }, allow: [read, echo] }]`));
  };

  test.each([
    ['JSON', { 'content-type': 'application/json' }, '{"x":"', 'its answer is larger than 8 MiB'],
    ['a stream', EVENTS, 'data: {"x":"', 'an event of its answer is larger than 8 MiB'],
  ])('is an error for the model if it is %s', async (_, headers, begin, message) => {
    serve(
      ({ method, params }) => method === 'tools/call' && params.name === 'read',
      (response) => server.endless(response, 200, headers as Record<string, string>, begin, PIECE),
    );
    await start();
    models.answers({ tool: 'read', input: {} }, { tool: 'echo', input: {} }, { text: '{"text":"All done."}' });
    expect((await board.publishSync('Question', { text: 'Well?' }, { timeout: 60 })).artifacts).toMatchObject([
      { payload: { text: 'All done.' } },
    ]);
    const { input } = models.requests[2]!.body as { input: { type?: string; output?: string }[] };
    expect(input.filter(({ type }) => type === 'function_call_output').map(({ output }) => output)).toEqual([
      expect.stringContaining(`the result of read was not read: ${message}`),
      'echoed',
    ]);
    expect(server.isClosed).toBe(true);
    expect(server.written).toBeLessThan(32 * MIB);
  });

  test('ends the connection if the SDK asks for it again', async () => {
    serve(
      ({ method, params }) => method === 'tools/call' && params.name === 'read',
      (response) => server.endless(response, 200, EVENTS, 'retry: 0\nid: 1\ndata:\n\ndata: {"x":"', PIECE),
    );
    await start();
    const done = { text: '{"text":"All done."}' };
    const ask = () => board.publishSync('Question', { text: 'Well?' }, { timeout: 60 });
    models.answers({ tool: 'read', input: {} }, done);
    expect((await ask()).artifacts).toMatchObject([{ payload: { text: 'All done.' } }]);
    models.answers(done);
    await eventually('the server is connected to again', async () => {
      await ask();
      return asked.filter((method) => method === 'initialize').length > 1;
    });
  });

  test('fails the attempt if it is the list of tools', async () => {
    serve(
      ({ method }) => method === 'tools/list',
      (response) => server.endless(response, 200, EVENTS, 'data: {"x":"', PIECE),
    );
    await start();
    const correlation = await board.publish('Question', { text: 'Well?' });
    await board.ended(correlation);
    expect(await errorOf(board, correlation)).toMatchObject({
      error_type: 'tool',
      error_message: `the tool server ${server.url} cannot be reached: an event of its answer is larger than 8 MiB`,
    });
  });

  test('fails the attempt if a program writes it', async () => {
    board = await Board.start(
      responder(models, `tools: [{ mcp: { command: '${process.execPath}', args: [raw.mjs] }, allow: [read] }]`),
      { files: { 'raw.mjs': PROGRAM } },
    );
    models.answers({ tool: 'read', input: {} });
    const correlation = await board.publish('Question', { text: 'Well?' });
    await board.ended(correlation);
    expect(await errorOf(board, correlation)).toMatchObject({
      error_type: 'tool',
      error_message: 'the tool read gave no answer: a line of it is larger than 8 MiB',
    });
  });
});
