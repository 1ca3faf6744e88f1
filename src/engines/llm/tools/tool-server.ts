import { AsyncLocalStorage } from 'node:async_hooks';
import type { Readable } from 'node:stream';

import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

import type { JsonObject } from '../../../common/json.js';
import type { Logger } from '../../../common/logger.js';
import { VERSION } from '../../../common/version.js';
import { AnswerTooLarge, LONGEST_PART_MIB } from '../../../http-client/bounded-answer.js';
import { EngineFailure } from '../../engine-answers.js';
import { isRefused, reasonOf } from '../model-error.js';
import { ProgramLog } from './program-log.js';
import { Secrets } from './secrets.js';

/** An MCP server: a program to start, or a URL that serves Streamable HTTP. */
export type ToolServerOptions =
  | { command: string; args?: string[]; env?: Record<string, string> }
  | { url: string; headers?: Record<string, string> };

export interface OfferedTool {
  name: string;
  description: string;
  /** JSON Schema of its arguments. */
  inputSchema: JsonObject;
}

export interface ToolResult {
  text: string;
  /** True if the tool reported an error. The model may then ask differently. */
  isError: boolean;
}

interface Connection {
  /** Null until its program is started or its URL is contacted. */
  client: Client | null;
  tools: Promise<OfferedTool[]>;
  /** True if the server has reported that its tools have changed. */
  isOutdated: boolean;
  /** The reason for which the SDK has ended it, if that is known. */
  problem?: string;
}

/** Characters of one result that the model receives. */
const LONGEST_RESULT = 100_000;
const LONGEST_REASON = 500;
/** The SDK passes an error of a stream on as a text. */
const TOO_LARGE = /^(?:Error: SSE stream disconnected: )?AnswerTooLarge: (.+)$/;
const LINE_TOO_LARGE = /^Error: ReadBuffer exceeded maximum size/;

/** One MCP server. It starts on first use, restarts after it has ended, and stops with `close`. */
export class ToolServer {
  private connection: Connection | null = null;
  private readonly secrets: Secrets;
  /** The request to which an error of the SDK belongs. Aborting it ends the request. */
  private readonly requests = new AsyncLocalStorage<AbortController>();

  constructor(
    private readonly options: ToolServerOptions,
    private readonly baseDirectory: string,
    /** Sends the requests to a URL. */
    private readonly fetch: typeof globalThis.fetch,
    private readonly logger: Logger,
  ) {
    this.secrets = new Secrets(Object.values(('url' in options ? options.headers : options.env) ?? {}));
  }

  /** Throws EngineFailure if the server cannot be reached. */
  async tools(): Promise<OfferedTool[]> {
    return (await this.connected()).tools;
  }

  /**
   * Throws EngineFailure if the server cannot be reached or ends during the call, and an Error for the model if it
   * refuses the call or answers with too much.
   */
  async call(name: string, input: unknown, limit: { signal: AbortSignal; timeoutMs: number }): Promise<ToolResult> {
    const connection = await this.connected();
    try {
      const answer = await this.request(
        (signal) =>
          connection.client!.callTool({ name, arguments: input as JsonObject }, undefined, {
            signal,
            timeout: limit.timeoutMs,
          }),
        limit.signal,
      );
      const isError = answer.isError === true;
      const text = isError ? this.secrets.hiddenIn(textOf(answer)) : textOf(answer);
      return { text: text.slice(0, LONGEST_RESULT), isError };
    } catch (error) {
      limit.signal.throwIfAborted();
      if (error instanceof AnswerTooLarge) throw new Error(`the result of ${name} was not read: ${error.message}`);
      if (isRefusal(error)) throw new Error(this.secrets.hiddenIn((error as Error).message).slice(0, LONGEST_RESULT));
      await this.drop(connection);
      throw new EngineFailure('tool', `the tool ${name} gave no answer: ${connection.problem ?? this.reasonOf(error)}`);
    }
  }

  async close(): Promise<void> {
    if (this.connection) await this.drop(this.connection);
  }

  private async connected(): Promise<Connection> {
    const connection = (this.connection ??= this.connect());
    // The tools are listed on use, not on the notification: a server that sends one with every list would cause an
    // endless loop.
    if (connection.isOutdated) {
      connection.isOutdated = false;
      connection.tools = connection.tools.then(() => this.listTools(connection.client!));
    }
    try {
      await connection.tools;
      return connection;
    } catch (error) {
      await this.drop(connection);
      throw new EngineFailure('tool', `the tool server ${this.name} cannot be reached: ${this.reasonOf(error)}`, {
        isFinal: isRefused(error),
      });
    }
  }

  /** Rejects with AnswerTooLarge if the answer is larger than its bound, of which the SDK tells only `onerror`. */
  private async request<Answer>(ask: (signal: AbortSignal) => Promise<Answer>, given?: AbortSignal): Promise<Answer> {
    const ending = new AbortController();
    const signal = given ? AbortSignal.any([given, ending.signal]) : ending.signal;
    try {
      return await this.requests.run(ending, () => ask(signal));
    } catch (error) {
      ending.signal.throwIfAborted();
      throw error;
    }
  }

  private async onError(error: Error, connection: Connection): Promise<void> {
    if (LINE_TOO_LARGE.test(String(error))) connection.problem = `a line of it is larger than ${LONGEST_PART_MIB} MiB`;
    const [, reason] = TOO_LARGE.exec(String(error)) ?? [];
    if (reason === undefined) return;
    const request = this.requests.getStore();
    if (request && !request.signal.aborted) request.abort(new AnswerTooLarge(reason));
    // The SDK has asked for the stream again, which it would do without end.
    else await this.drop(connection);
  }

  private connect(): Connection {
    const connection: Connection = { client: null, tools: Promise.resolve([]), isOutdated: false };
    connection.tools = this.open(connection);
    return connection;
  }

  private async open(connection: Connection): Promise<OfferedTool[]> {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { ToolListChangedNotificationSchema } = await import('@modelcontextprotocol/sdk/types.js');
    const transport = await this.transport();
    if (this.connection !== connection) throw new Error('it was stopped during the start');
    const client = (connection.client = new Client({ name: 'starling', version: VERSION }));
    client.onclose = () => this.forget(connection);
    client.onerror = (error) => void this.onError(error, connection);
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      connection.isOutdated = true;
    });
    await this.request((signal) => client.connect(transport, { signal }));
    return this.listTools(client);
  }

  private async listTools(client: Client): Promise<OfferedTool[]> {
    const tools: OfferedTool[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await this.request((signal) => client.listTools({ cursor }, { signal }));
      tools.push(
        ...page.tools.map(({ name, description = '', inputSchema }) => ({
          name,
          description,
          inputSchema: inputSchema as JsonObject,
        })),
      );
      cursor = page.nextCursor;
    }
    return tools;
  }

  private async transport(): Promise<Transport> {
    const { options } = this;
    if ('url' in options) {
      const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
      return new StreamableHTTPClientTransport(new URL(options.url), {
        requestInit: { headers: options.headers ?? {} },
        fetch: this.fetch,
      });
    }
    const { getDefaultEnvironment, StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { command, args = [], env = {} } = options;
    // The program gets only the basic environment and the configured variables, so that the keys stay in this process.
    const transport = new StdioClientTransport({
      command,
      args,
      env: { ...getDefaultEnvironment(), ...env },
      cwd: this.baseDirectory,
      maxBufferSize: LONGEST_PART_MIB * 1_024 ** 2,
      stderr: 'pipe',
    });
    this.log(transport.stderr as Readable);
    return transport;
  }

  private log(written: Readable): void {
    const log = new ProgramLog(this.name, this.secrets, this.logger);
    written
      .setEncoding('utf8')
      .on('data', (piece: string) => log.add(piece))
      .on('end', () => log.end());
  }

  private async drop(connection: Connection): Promise<void> {
    this.forget(connection);
    await connection.client?.close().catch(() => undefined);
  }

  // A program can take seconds to end, and a new connection may exist by then.
  private forget(connection: Connection): void {
    if (this.connection === connection) this.connection = null;
  }

  /** Removes the configured secrets from the reason: fetch quotes a header that it cannot send. */
  private reasonOf(error: unknown): string {
    return this.secrets.hiddenIn(reasonOf(error) || String(error)).slice(0, LONGEST_REASON);
  }

  /** The name of the server in messages and records. */
  get name(): string {
    return 'url' in this.options ? new URL(this.options.url).origin : this.options.command;
  }
}

/** True for errors of JSON-RPC, except a closed connection (-32000) and a timeout (-32001). */
const isRefusal = (error: unknown): boolean => {
  const { code } = error as { code?: unknown };
  return typeof code === 'number' && code < -32_001;
};

function textOf({ content, structuredContent }: Record<string, unknown>): string {
  const parts = Array.isArray(content) ? (content as { type: string; text?: string }[]) : [];
  if (parts.length > 0 && parts.every(({ type }) => type === 'text')) return parts.map(({ text }) => text).join('\n');
  return JSON.stringify(structuredContent ?? parts);
}
