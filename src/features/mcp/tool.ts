import { hash } from 'node:crypto';

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
  /** Takes ownership of `given`, of which only the names are validated. Rejects with a DomainError if it fails. */
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

/**
 * Up to this many types, and this many agents, each has a separate tool. A model reads every tool before each of its
 * answers, and some clients take at most forty tools.
 */
export const MAX_TOOLS_OF_A_KIND = 16;

/** The APIs of models take names of up to 64 characters from this set. */
const MAX_LENGTH = 64;
const ALLOWED = /^[A-Za-z0-9_-]+$/;
const OTHERS = /[^A-Za-z0-9_-]/g;
const DIGEST_LENGTH = 8;

/**
 * Returns the tool name for a type or an agent. A name that is too long or has other characters gets a digest to keep
 * it unique.
 */
export function toolName(prefix: string, name: string): string {
  const whole = prefix + name;
  if (whole.length <= MAX_LENGTH && ALLOWED.test(name)) return whole;
  const digest = hash('sha256', name).slice(0, DIGEST_LENGTH);
  return `${whole.replace(OTHERS, '_').slice(0, MAX_LENGTH - DIGEST_LENGTH - 1)}_${digest}`;
}
