import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { isJSONRPCRequest, type JSONRPCMessage, JSONRPCMessageSchema, type JSONRPCRequest, type Result, SUPPORTED_PROTOCOL_VERSIONS } from '@modelcontextprotocol/sdk/types.js';
import { DomainError } from '../../common/domain-error.js';
import { isJsonObject, type JsonObject } from '../../common/json.js';
import { VERSION } from '../../common/version.js';

const FIELDS = ['jsonrpc', 'id', 'method', 'params', 'result', 'error'];

export interface Served {
  title: string;
  instructions: string;
  /** Answers what is not the protocol's own; rejects with an RpcError. */
  answer(request: JSONRPCRequest): Promise<Result>;
}

/** The one message of a POST. DomainError `invalid`. */
export function readMessage(body: unknown, version: string | undefined): JSONRPCMessage {
  if (version !== undefined && !SUPPORTED_PROTOCOL_VERSIONS.includes(version)) {
    throw new DomainError('invalid', `Mcp-Protocol-Version: must be one of ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}`);
  }
  // Batches have left the protocol with its version of 2025-06-18.
  if (Array.isArray(body)) throw new DomainError('invalid', 'The body must be one JSON-RPC message; send those of a batch one by one');
  const message = JSONRPCMessageSchema.safeParse(isJsonObject(body) ? knownFields(body) : body);
  if (!message.success) throw new DomainError('invalid', 'The body must be a JSON-RPC 2.0 message, such as {"jsonrpc":"2.0","id":1,"method":"tools/list"}');
  return message.data;
}

/** The SDK refuses a message with any other field. */
const knownFields = (body: JsonObject): JsonObject => Object.fromEntries(FIELDS.filter((name) => Object.hasOwn(body, name)).map((name) => [name, body[name]!]));

/**
 * The answer to a request; null where the message is none and gets none. No state outlives it, so that any replica can have the next
 * message of a client.
 */
export async function exchange(message: JSONRPCMessage, { title, instructions, answer }: Served): Promise<JSONRPCMessage | null> {
  if (!isJSONRPCRequest(message)) return null;
  const server = new Server({ name: 'starling', title, version: VERSION }, { capabilities: { tools: {} }, instructions, jsonSchemaValidator: NO_VALIDATOR });
  server.fallbackRequestHandler = answer;
  const transport = new SingleExchange();
  await server.connect(transport);
  transport.onmessage!(message);
  const answered = await transport.answered;
  await server.close();
  return answered;
}

/** It would make an Ajv for every message, to check what only clients are asked for. */
const NO_VALIDATOR = {
  getValidator(): never {
    throw new Error('nothing is asked of clients');
  },
};

/**
 * Stands in for the SDK's transport for HTTP, whose sessions, streams and reading of bodies are not needed here, and which refuses
 * clients that accept JSON alone.
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
