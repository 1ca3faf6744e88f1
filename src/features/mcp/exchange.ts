import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  ErrorCode,
  InitializeRequestSchema,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type JSONRPCRequest,
  RequestSchema,
  type Result,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';

import { DomainError } from '../../common/domain-error.js';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import { VERSION } from '../../common/version.js';

const FIELDS = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];

export interface Served {
  title: string;
  instructions: string;
  /** Answers requests that the SDK does not answer itself. Rejects with an RpcError. */
  answer(request: JSONRPCRequest): Promise<Result>;
}

/** Parses the message of a POST, whose `params` are not checked. Throws DomainError `invalid`. */
export function readMessage(body: unknown, version: string | undefined): JSONRPCMessage {
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    throw new DomainError('invalid', `Mcp-Protocol-Version: must be one of ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}`);
  }
  // Version 2025-06-18 of the protocol removed batches.
  if (Array.isArray(body))
    throw new DomainError('invalid', 'The body must be one JSON-RPC message; send the messages of a batch one by one');
  const message = isJsonObject(body) ? knownFields(body) : body;
  if (!JSONRPCMessageSchema.safeParse(withoutMeta(message)).success)
    throw new DomainError(
      'invalid',
      'The body must be a JSON-RPC 2.0 message, such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    );
  return message as JSONRPCMessage;
}

/** A request with a wrong `_meta` is a message: its answer is an error of the protocol. */
function withoutMeta(message: unknown): unknown {
  if (!isJsonObject(message) || !('id' in message) || !isJsonObject(message.params)) return message;
  return { ...message, params: { ...message.params, _meta: undefined } };
}

/** Drops unknown fields, because the SDK refuses messages that have any. */
const knownFields = (body: JsonObject): JsonObject =>
  Object.fromEntries(FIELDS.filter((name) => Object.hasOwn(body, name)).map((name) => [name, body[name]!]));

/**
 * Returns the response to a request, or null for a notification. It keeps no state, so that any replica can answer the
 * next message of a client.
 */
export async function exchange(
  message: JSONRPCMessage,
  { title, instructions, answer }: Served,
): Promise<JSONRPCMessage | null> {
  if (!('method' in message && 'id' in message)) return null;
  const problem = problemOf(message);
  if (problem !== null)
    return { jsonrpc: '2.0', id: message.id, error: { code: ErrorCode.InvalidParams, message: problem } };
  const server = new Server(
    { name: 'starling', title, version: VERSION },
    { capabilities: { tools: {} }, instructions, jsonSchemaValidator: NO_VALIDATOR },
  );
  server.fallbackRequestHandler = answer;
  const transport = new SingleExchange();
  await server.connect(transport);
  transport.onmessage!(message);
  const answered = await transport.answered;
  await server.close();
  return answered;
}

/** Returns what is wrong with the parameters that the SDK would check, because its errors are those of a library. */
function problemOf(request: JSONRPCRequest): string | null {
  const schema = request.method === 'initialize' ? InitializeRequestSchema : RequestSchema;
  const issue = schema.safeParse(request).error?.issues[0];
  if (issue) return `${issue.path.join('.')}: ${expected(issue)}`;
  if (request.params?.task !== undefined) return 'params.task: must be left out, because this server has no tasks';
  return null;
}

const KINDS: Record<string, string> = {
  string: 'a string',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

function expected(issue: { code: string; expected?: string }): string {
  const kind = issue.code === 'custom' ? 'an object' : KINDS[issue.expected ?? ''];
  return kind === undefined ? 'must be a value that the protocol allows' : `must be ${kind}`;
}

/** Replaces the SDK's validator, which would create an Ajv for every message only to check answers of clients. */
const NO_VALIDATOR = {
  getValidator(): never {
    throw new Error('this server sends no requests to clients');
  },
};

/**
 * Replaces the SDK's HTTP transport. Its sessions, streams and body parser are not needed here, and it refuses clients
 * that accept only JSON.
 */
class SingleExchange implements Transport {
  onmessage?: Transport['onmessage'];
  onclose?: () => void;
  readonly answered: Promise<JSONRPCMessage>;
  private resolve!: (message: JSONRPCMessage) => void;

  constructor() {
    this.answered = new Promise((resolve) => (this.resolve = resolve));
  }

  async start(): Promise<void> {}

  async send(message: JSONRPCMessage): Promise<void> {
    this.resolve(message);
  }

  async close(): Promise<void> {
    this.onclose?.();
  }
}
