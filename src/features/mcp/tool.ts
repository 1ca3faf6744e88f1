import type { HeldRequest } from '../../common/held-request.js';
import type { JsonObject } from '../../common/json.js';
import type { TextInParts } from '../../common/text-in-parts.js';

/** A tool that MCP clients can call. */
export interface Tool {
  name: string;
  description: string;
  /** JSON Schema of the arguments. Arguments outside its `properties` are refused. */
  inputSchema: ArgumentsSchema;
  /** Whether the tool is read-only. */
  reads: boolean;
  /** Takes ownership of `given`, of which only the names are validated. Rejects with a DomainError where it fails. */
  call(given: JsonObject, held: HeldRequest): Promise<ToolAnswer>;
}

export type ArgumentsSchema = JsonObject & { type: 'object'; properties: JsonObject };

export interface ToolAnswer {
  /** An object, or the JSON of one. */
  body: object | TextInParts;
  /** Correlation of the work that the call started. */
  correlationId?: string;
  /** Whether the answer was made for an earlier call with this idempotency key. */
  replayed?: boolean;
  /** Whether that call had other arguments. */
  mismatch?: boolean;
}
