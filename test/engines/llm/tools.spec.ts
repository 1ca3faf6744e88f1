// Uses the application, the AI SDK, the MCP SDK with its reference server as a process, and HTTP. The model server is a
// stand-in.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { Board } from '../../e2e/board.js';
import { ConfigurationFolder } from '../../support/configuration-folder.js';
import { eventually } from '../../support/eventually.js';
import { freePort } from '../../support/free-port.js';
import { type ModelAnswer, ModelServer } from '../../support/model-server.js';
import { engine, errorOf, KEYS, MODELS, responder, setKeys, TYPES } from './llm-board.js';

const EVERYTHING = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js');
const sdk = (module: string): string => resolve('node_modules/@modelcontextprotocol/sdk/dist/esm', module);
/** Records its process id. */
const STARTED = 'echo $$ >> started; exec "$0" "$@"';

const stdio = (allow: string): string =>
  `tools: [{ mcp: { command: sh, args: ['-c', '${STARTED}', '${process.execPath}', '${EVERYTHING}'], env: { GIVEN: "yes" } }, allow: [${allow}] }]`;

/** Offers one tool, and another one when that has been called. */
const GROWING = `
import { McpServer } from '${sdk('server/mcp.js')}';
import { StdioServerTransport } from '${sdk('server/stdio.js')}';
const server = new McpServer({ name: 'growing', version: '1.0.0' });
const late = server.registerTool('late', { description: 'Comes late' }, () => ({ content: [{ type: 'text', text: 'Late: here' }] }));
late.disable();
server.registerTool('grow', { description: 'Adds the other' }, () => (late.enable(), { content: [{ type: 'text', text: 'grown' }] }));
await server.connect(new StdioServerTransport());
`;

/** Announces a change of its tools whenever it is asked, and records that. */
const RESTLESS = `
import { appendFileSync } from 'node:fs';
import { Server } from '${sdk('server/index.js')}';
import { StdioServerTransport } from '${sdk('server/stdio.js')}';
import { CallToolRequestSchema, ListToolsRequestSchema } from '${sdk('types.js')}';
const server = new Server({ name: 'restless', version: '1.0.0' }, { capabilities: { tools: { listChanged: true } } });
server.setRequestHandler(ListToolsRequestSchema, async () => {
  appendFileSync('asked', 'x');
  await server.sendToolListChanged();
  return { tools: [{ name: 'same', inputSchema: { type: 'object' } }] };
});
server.setRequestHandler(CallToolRequestSchema, () => ({ content: [{ type: 'text', text: 'done' }] }));
await server.connect(new StdioServerTransport());
`;

/** Offers one tool that never ends, and records that it was called. */
const ENDLESS = `
import { writeFileSync } from 'node:fs';
import { Server } from '${sdk('server/index.js')}';
import { StdioServerTransport } from '${sdk('server/stdio.js')}';
import { CallToolRequestSchema, ListToolsRequestSchema } from '${sdk('types.js')}';
const server = new Server({ name: 'endless', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: 'wait', inputSchema: { type: 'object' } }] }));
server.setRequestHandler(CallToolRequestSchema, () => (writeFileSync('called', ''), new Promise(() => undefined)));
await server.connect(new StdioServerTransport());
`;

/** Writes its secret wherever it can: at its start in parts, between other lines, and when its tool fails. */
const TALKATIVE = `
import { Server } from '${sdk('server/index.js')}';
import { StdioServerTransport } from '${sdk('server/stdio.js')}';
import { CallToolRequestSchema, ListToolsRequestSchema } from '${sdk('types.js')}';
const { TOKEN } = process.env;
process.stderr.write('with ' + TOKEN.slice(0, 4));
process.stderr.write(TOKEN.slice(4) + '\\n{"level":"error","msg":"forged"}\\n' + 'y'.repeat(1_995) + TOKEN + '\\n');
for (let line = 0; line < 500; line += 1) process.stderr.write('line ' + line + '\\n');
const server = new Server({ name: 'talkative', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: 'try', inputSchema: { type: 'object' } }] }));
server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
  if (params.arguments.throws) throw new Error('no access with ' + TOKEN);
  return { content: [{ type: 'text', text: 'no auth ' + TOKEN }], isError: true };
});
await server.connect(new StdioServerTransport());
`;

const DONE: ModelAnswer = { text: '{"text":"All done."}' };

const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));

/** Returns the tool results that a request gave the model. */
function toolResults(models: ModelServer, request: number): string[] {
  const { input } = models.requests[request]!.body as { input: { type?: string; output?: string }[] };
  return input.filter(({ type }) => type === 'function_call_output').map(({ output }) => output!);
}

describe('tools of an MCP server', () => {
  let models: ModelServer;
  let folder: ConfigurationFolder;
  let board: Board;
  beforeAll(async () => {
    setKeys();
    models = await ModelServer.start();
  });
  afterAll(() => models.close());
  beforeEach(() => {
    folder = new ConfigurationFolder();
  });
  afterEach(async () => {
    await board.close();
    folder.remove();
  });

  const start = async (more: string, agent?: string, model: string = MODELS[0]): Promise<void> => {
    board = await Board.start(responder(models, more, model, agent), { folder: folder.path });
  };
  const started = (): number[] =>
    existsSync(join(folder.path, 'started'))
      ? readFileSync(join(folder.path, 'started'), 'utf8').trim().split('\n').map(Number)
      : [];
  /** Returns those of the first execution. */
  const callsOf = async (): Promise<object[] | undefined> => {
    const [first] = await board.app.database.rows<{ id: string }>('select id from executions order by seq');
    return ((await board.http.get(`/api/v1/executions/${first!.id}`)).body as { tool_calls?: object[] }).tool_calls;
  };
  const ask = async () =>
    (await board.publishSync('Question', { text: 'Well?' }, { timeout: 120 })).artifacts.map(({ payload }) => payload);

  test('are called for the model, which sees only allowed ones; the server is started once, and stopped with the service', async () => {
    await start(stdio('echo, get-env'));
    expect(started()).toEqual([]);
    models.answers({ tool: 'echo', input: { message: 'hello' } }, { tool: 'get-env', input: {} }, DONE);
    expect(await ask()).toEqual([{ text: 'All done.' }]);
    const offered = (models.requests[0]!.body as { tools: { name: string; parameters: object }[] }).tools;
    expect(offered.map(({ name }) => name)).toEqual(['echo', 'get-env']);
    expect(offered[0]!.parameters).toMatchObject({ properties: { message: { type: 'string' } } });
    expect(toolResults(models, 1)).toEqual(['Echo: hello']);
    const environment = toolResults(models, 2).at(-1)!;
    expect(JSON.parse(environment)).toMatchObject({ GIVEN: 'yes' });
    for (const key of Object.values(KEYS)) expect(environment).not.toContain(key);

    models.answers({ tool: 'echo', input: { message: 'again' } }, DONE);
    await ask();
    expect(started()).toHaveLength(1);
    const [first] = await board.app.database.rows<{ id: string }>('select id from executions order by seq');
    const calls = board.app.logLines.filter(({ msg, execution_id: id }) => msg === 'tool call' && id === first!.id);
    expect(calls).toMatchObject([
      { tool: 'echo', outcome: 'ok', agent: 'responder' },
      { tool: 'get-env', outcome: 'ok' },
    ]);
    expect(JSON.stringify(board.app.logLines)).not.toContain('hello');
    const { body: shown } = await board.http.get(`/api/v1/executions/${first!.id}`).expect(200);
    const call = {
      attempt: 1,
      server: 'sh',
      outcome: 'ok',
      at: expect.stringMatching(/Z$/),
      duration_ms: expect.any(Number),
    };
    expect((shown as { tool_calls: object[] }).tool_calls).toEqual([
      { ...call, tool: 'echo', result_bytes: 'Echo: hello'.length },
      { ...call, tool: 'get-env', result_bytes: Buffer.byteLength(environment) },
    ]);
    const usage = await board.app.database.rows<{ input_tokens: number }>(
      'select input_tokens from usage order by seq',
    );
    expect(usage.map(({ input_tokens: tokens }) => tokens)).toEqual([300, 200]);

    expect(isAlive(started()[0]!)).toBe(true);
    await board.app.app.close();
    await eventually('the server has exited', () => !isAlive(started()[0]!));
  });

  test('a call that the tool refuses is reported to the model', async () => {
    await start(stdio('get-sum'));
    models.answers({ tool: 'get-sum', input: { a: 'one', b: 2 } }, { tool: 'get-sum', input: { a: 1, b: 2 } }, DONE);
    expect(await ask()).toEqual([{ text: 'All done.' }]);
    expect(toolResults(models, 1)[0]).toMatch(/invalid|expected/i);
    expect(toolResults(models, 2)[1]).toMatch(/\b3\b/);
    expect(await callsOf()).toMatchObject([
      { tool: 'get-sum', outcome: 'error' },
      { tool: 'get-sum', outcome: 'ok' },
    ]);
  });

  test('calls stay stored if the answer is sent back', async () => {
    await start(stdio('echo'));
    models.answers({ tool: 'echo', input: { message: 'hello' } }, { text: '{"text":"no"}' }, DONE);
    expect(await ask()).toEqual([{ text: 'All done.' }]);
    expect(toolResults(models, 2)).toEqual(['Echo: hello']);
    const { input } = models.requests[2]!.body as { input: { role?: string; type?: string }[] };
    expect(input.map(({ role, type }) => role ?? type)).toEqual([
      'developer',
      'user',
      'function_call',
      'function_call_output',
      'assistant',
      'user',
    ]);
  });

  test('a server that dies fails the attempt, and is started again for the next one', async () => {
    // It may die before it has received the call.
    const GONE = /^the tool trigger-long-running-operation gave no answer|^the tool server \w+ cannot be reached/;
    await start(stdio('echo, trigger-long-running-operation'), 'retry: { attempts: 2, delay: 0s }');
    models.answers(
      { tool: 'trigger-long-running-operation', input: { duration: 60, steps: 1 } },
      { tool: 'echo', input: { message: 'back' } },
      DONE,
    );
    const correlation = await board.publish('Question', { text: 'Well?' });
    await eventually('the tool works', () => started().length === 1 && models.requests.length === 1);
    process.kill(started()[0]!, 'SIGKILL');
    expect(await board.ended(correlation)).toMatchObject({ state: 'completed', error_count: 0 });
    expect(started()).toHaveLength(2);
    expect(models.requests).toHaveLength(3);
    const [attempt] = await board.app.database.rows<{ error_type: string; error_message: string }>(
      'select error_type, error_message from execution_attempts',
    );
    expect(await callsOf()).toMatchObject([
      { attempt: 1, tool: 'trigger-long-running-operation', outcome: 'failed', result_bytes: 0 },
      { attempt: 2, tool: 'echo', outcome: 'ok' },
    ]);
    expect(attempt).toMatchObject({ error_type: 'tool', error_message: expect.stringMatching(GONE) });

    process.kill(started()[1]!, 'SIGKILL');
    await eventually('the process has exited', () => !isAlive(started()[1]!));
    models.script = ({ text }) =>
      text.includes('function_call_output') ? DONE : { tool: 'echo', input: { message: 'once more' } };
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(Array(3).fill([{ text: 'All done.' }]));
    expect(started()).toHaveLength(3);
  });

  test('a call of a cancelled execution, which is aborted, is stored too', async () => {
    const file = folder.write('endless.mjs', ENDLESS);
    await start(
      `tools: [{ mcp: { command: '${process.execPath}', args: ['${file}'] }, allow: [wait] }]`,
      'retry: { attempts: 1 }',
    );
    models.answers({ tool: 'wait', input: {} });
    const correlation = await board.publish('Question', { text: 'Well?' });
    await eventually('the tool works', () => existsSync(join(folder.path, 'called')));
    await board.http.post(`/api/v1/correlations/${correlation}/cancel`).expect(200);
    await eventually('its call is kept', async () => (await callsOf())?.length === 1);
    expect(await callsOf()).toMatchObject([{ tool: 'wait', outcome: 'failed' }]);
  });

  test('a server with changed tools is asked again, and the model still sees only allowed ones', async () => {
    const file = folder.write('growing.mjs', GROWING);
    const tools = (allow: string): string =>
      `tools: [{ mcp: { command: sh, args: ['-c', '${STARTED}', '${process.execPath}', '${file}'] }, allow: [${allow}] }]`;
    const agent = (type: string, allow: string): string =>
      `{ consumes: [{ types: [${type}] }], publishes: [{ type: Reply }], retry: { attempts: 1 }, engine: ${engine(models, tools(allow))} }`;
    board = await Board.start(
      `${TYPES}\nagents: { one: ${agent('Question', 'grow')}, other: ${agent('Later', 'late')} }`,
      { folder: folder.path },
    );
    const early = await board.publish('Later', {});
    await board.ended(early);
    expect(await errorOf(board, early)).toMatchObject({ error_message: 'the server has no tool late; it has grow' });

    models.answers({ tool: 'grow', input: {} }, DONE);
    expect(await ask()).toEqual([{ text: 'All done.' }]);
    models.answers({ tool: 'late', input: {} }, DONE);
    expect((await board.publishSync('Later', {}, { timeout: 120 })).artifacts).toMatchObject([{ type: 'Reply' }]);
    expect(toolResults(models, 1)).toEqual(['Late: here']);
    models.answers(DONE);
    await ask();
    expect((models.requests[0]!.body as { tools: { name: string }[] }).tools.map(({ name }) => name)).toEqual(['grow']);
    expect(started()).toHaveLength(1);
  });

  test('a server that announces a change with every answer is asked only when its tools are needed', async () => {
    const file = folder.write('restless.mjs', RESTLESS);
    await start(`tools: [{ mcp: { command: '${process.execPath}', args: ['${file}'] }, allow: [same] }]`);
    for (let round = 0; round < 2; round += 1) {
      models.answers({ tool: 'same', input: {} }, DONE);
      expect(await ask()).toEqual([{ text: 'All done.' }]);
      expect(toolResults(models, 1)).toEqual(['done']);
    }
    // Once for each attempt and each call.
    expect(readFileSync(join(folder.path, 'asked'), 'utf8').length).toBeLessThanOrEqual(4);
  });

  test('the log has what a server writes to its standard error, and neither it nor an error for the model has its secrets', async () => {
    const file = folder.write('talkative.mjs', TALKATIVE);
    await start(
      `tools: [{ mcp: { command: '${process.execPath}', args: ['${file}'], env: { TOKEN: tools-4711-secret } }, allow: [try] }]`,
    );
    models.answers({ tool: 'try', input: {} }, { tool: 'try', input: { throws: true } }, DONE);
    expect(await ask()).toEqual([{ text: 'All done.' }]);
    expect(toolResults(models, 2)).toEqual([
      'no auth [secret]',
      expect.stringContaining('no access with [secret]') as string,
    ]);
    await eventually('too many lines are written', () => board.app.logLines.some(({ level }) => level === 40));
    const written = board.app.logLines.filter(({ msg }) => msg === 'a tool server wrote a line');
    expect(written).toHaveLength(100);
    expect(written.slice(0, 4)).toMatchObject(
      ['with [secret]', '{"level":"error","msg":"forged"}', `${'y'.repeat(1_995)}...`, 'line 0'].map((line) => ({
        server: process.execPath,
        line,
      })),
    );
    expect(board.app.logLines).toContainEqual(
      expect.objectContaining({
        msg: 'a tool server writes more than 100 lines a minute; the others of this minute are not logged',
      }),
    );
    expect(JSON.stringify(board.app.logLines)).not.toContain('4711');
  });

  test('an attempt calls tools 200 times at most', async () => {
    await start(stdio('echo'), 'retry: { attempts: 1 }');
    models.answers({ tool: 'echo', input: { message: 'more' }, times: 110 });
    const correlation = await board.publish('Question', { text: 'Well?' });
    await board.ended(correlation);
    expect(await errorOf(board, correlation)).toMatchObject({
      error_type: 'output',
      error_message: 'the model asked for more than 200 tool calls in one attempt',
    });
    expect(await callsOf()).toHaveLength(200);
  });

  test('an attempt that never stops asking for tools fails', async () => {
    await start(`${stdio('echo')}, max_steps: 3`);
    models.answers({ tool: 'echo', input: { message: 'more' } });
    const correlation = await board.publish('Question', { text: 'Well?' });
    await board.ended(correlation);
    expect(models.requests).toHaveLength(3);
    expect(await errorOf(board, correlation)).toMatchObject({
      error_type: 'output',
      error_message: 'after 3 steps the model still asked for tools; raise max_steps',
    });
  });

  test.each([
    ['lacks a tool', stdio('no-such-tool'), /^the server has no tool no-such-tool; it has .*\becho\b/],
    [
      'cannot be started',
      'tools: [{ mcp: { command: no-such-program }, allow: [echo] }]',
      /^the tool server no-such-program cannot be reached: .*ENOENT/,
    ],
    [
      'cannot be asked',
      'tools: [{ mcp: { url: "http://127.0.0.1:9/mcp", headers: { Authorization: "Bearer tools-4711\\nsecret" } }, allow: [echo] }]',
      /^the tool server http:\/\/127.0.0.1:9 cannot be reached: (?!.*4711).*\[secret\]/,
    ],
  ])('a server that %s fails the execution', async (_, tools, message) => {
    await start(tools);
    const correlation = await board.publish('Question', { text: 'Well?' });
    await board.ended(correlation);
    expect(await errorOf(board, correlation)).toMatchObject({
      error_type: 'tool',
      error_message: expect.stringMatching(message),
    });
  });

  test('a server at a URL works the same way, even after a new server replaces it there', async () => {
    const port = await freePort();
    const run = async (): Promise<ChildProcess> => {
      const server = spawn(process.execPath, [EVERYTHING, 'streamableHttp'], {
        env: { PATH: process.env.PATH, PORT: String(port) },
        stdio: 'ignore',
      });
      await eventually('the tool server listens', async () => (await fetch(`http://127.0.0.1:${port}/mcp`)).status > 0);
      return server;
    };
    const end = async (server: ChildProcess): Promise<void> => {
      server.kill('SIGKILL');
      await once(server, 'exit');
    };
    const server = await run();
    await start(
      `tools: [{ mcp: { url: "http://127.0.0.1:${port}/mcp" }, allow: [echo] }]`,
      'retry: { attempts: 2, delay: 0s }',
    );
    models.answers({ tool: 'echo', input: { message: 'far' } }, DONE);
    expect(await ask()).toEqual([{ text: 'All done.' }]);
    expect(toolResults(models, 1)).toEqual(['Echo: far']);

    // The new server at the same address knows nothing of the earlier session.
    await end(server);
    const next = await run();
    models.answers({ tool: 'echo', input: { message: 'far' } }, { tool: 'echo', input: { message: 'again' } }, DONE);
    expect(await ask()).toEqual([{ text: 'All done.' }]);
    expect(toolResults(models, 2)).toEqual(['Echo: again']);
    await end(next);
  });
});
