import type { JsonObject } from '../../common/json.js';
import type { HeldRequest } from '../../common/held-request.js';
import type { TextInParts } from '../../common/text-in-parts.js';

/** What an MCP client can call. */
export interface Tool {
  name: string;
  description: string;
  /** JSON Schema of the arguments; its `properties` are all that there are. */
  inputSchema: ArgumentsSchema;
  /** Whether it only looks. */
  reads: boolean;
  /** Gets arguments of these names, otherwise unchecked, to keep. Rejects with a DomainError where it cannot do what it is asked for. */
  call(given: JsonObject, held: HeldRequest): Promise<ToolAnswer>;
}

export type ArgumentsSchema = JsonObject & { type: 'object'; properties: JsonObject };

export interface ToolAnswer {
  /** An object, or the JSON of one. */
  body: object | TextInParts;
  /** That it was published into. */
  correlationId?: string;
  /** True where the answer was made for an earlier call with this idempotency key. */
  replayed?: boolean;
  /** True where that call had other arguments. */
  mismatch?: boolean;
}
