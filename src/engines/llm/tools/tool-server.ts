import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JsonObject } from '../../../common/json.js';
import { VERSION } from '../../../common/version.js';
import { ModelFailure } from '../model-failure.js';

/** Where an MCP server is: a program to start, or a URL that serves Streamable HTTP. */
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
  /** The tool says that it could not do what it was asked for; the model may ask otherwise. */
  isError: boolean;
}

interface Connection {
  client: Client;
  tools: OfferedTool[];
}

/** What a model is shown of one result. */
const LONGEST_RESULT = 100_000;

/** One MCP server: started when it is first needed, again when it has ended, and stopped by `close`. */
export class ToolServer {
  private connection: Promise<Connection> | null = null;

  constructor(
    private readonly options: ToolServerOptions,
    private readonly baseDirectory: string,
  ) {}

  /** ModelFailure where it cannot be reached. */
  async tools(): Promise<OfferedTool[]> {
    return (await this.connected()).tools;
  }

  /** ModelFailure where it cannot be reached or ends meanwhile; an Error for the model where it refuses the call. */
  async call(name: string, input: unknown, limit: { signal: AbortSignal; timeoutMs: number }): Promise<ToolResult> {
    const { client } = await this.connected();
    try {
      const answer = await client.callTool({ name, arguments: input as JsonObject }, undefined, { signal: limit.signal, timeout: limit.timeoutMs });
      return { text: textOf(answer).slice(0, LONGEST_RESULT), isError: answer.isError === true };
    } catch (error) {
      limit.signal.throwIfAborted();
      if (isRefusal(error)) throw error;
      await this.drop(client);
      throw new ModelFailure('tool', `the tool ${name} gave no answer: ${messageOf(error)}`);
    }
  }

  async close(): Promise<void> {
    const connection = await this.connection?.catch(() => null);
    if (connection) await this.drop(connection.client);
  }

  private async connected(): Promise<Connection> {
    this.connection ??= this.connect();
    try {
      return await this.connection;
    } catch (error) {
      this.connection = null;
      throw new ModelFailure('tool', `the tool server ${this.name} cannot be reached: ${messageOf(error)}`);
    }
  }

  private async connect(): Promise<Connection> {
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const client = new Client({ name: 'starling', version: VERSION });
    client.onclose = () => void (this.connection = null);
    await client.connect(await this.transport());
    const tools: OfferedTool[] = [];
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const page = await client.listTools({ cursor });
      tools.push(...page.tools.map(({ name, description = '', inputSchema }) => ({ name, description, inputSchema: inputSchema as JsonObject })));
      cursor = page.nextCursor;
    }
    return { client, tools };
  }

  private async transport(): Promise<Transport> {
    const { options } = this;
    if ('url' in options) {
      const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
      return new StreamableHTTPClientTransport(new URL(options.url), { requestInit: { headers: options.headers ?? {} } });
    }
    const { getDefaultEnvironment, StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js');
    const { command, args = [], env = {} } = options;
    // Of the environment only what a program needs to run, and what the configuration gives it: the keys stay here.
    return new StdioClientTransport({ command, args, env: { ...getDefaultEnvironment(), ...env }, cwd: this.baseDirectory, stderr: 'inherit' });
  }

  private async drop(client: Client): Promise<void> {
    this.connection = null;
    await client.close().catch(() => undefined);
  }

  private get name(): string {
    return 'url' in this.options ? new URL(this.options.url).origin : this.options.command;
  }
}

/** JSON-RPC's own errors, but for a connection that was closed (-32000) and a time that is up (-32001). */
const isRefusal = (error: unknown): boolean => {
  const { code } = error as { code?: unknown };
  return typeof code === 'number' && code < -32_001;
};

const messageOf = (error: unknown): string => String((error as { message?: unknown } | null)?.message ?? error).slice(0, 500);

function textOf({ content, structuredContent }: Record<string, unknown>): string {
  const parts = Array.isArray(content) ? (content as { type: string; text?: string }[]) : [];
  if (parts.length > 0 && parts.every(({ type }) => type === 'text')) return parts.map(({ text }) => text).join('\n');
  return JSON.stringify(structuredContent ?? parts);
}
