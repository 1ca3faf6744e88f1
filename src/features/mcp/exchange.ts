import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import {
  isJSONRPCRequest,
  type JSONRPCMessage,
  JSONRPCMessageSchema,
  type JSONRPCRequest,
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

/** Parses the message of a POST. Throws DomainError `invalid`. */
export function readMessage(body: unknown, version: string | undefined): JSONRPCMessage {
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    throw new DomainError('invalid', `Mcp-Protocol-Version: must be one of ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}`);
  }
  // Version 2025-06-18 of the protocol removed batches.
  if (Array.isArray(body))
    throw new DomainError('invalid', 'The body must be one JSON-RPC message; send the messages of a batch one by one');
  const message = JSONRPCMessageSchema.safeParse(isJsonObject(body) ? knownFields(body) : body);
  if (!message.success)
    throw new DomainError(
      'invalid',
      'The body must be a JSON-RPC 2.0 message, such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    );
  return message.data;
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
  if (!isJSONRPCRequest(message)) return null;
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
