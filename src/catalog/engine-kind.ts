import type { JsonObject } from '../common/json.js';
import type { AgentDefinition } from './definitions.js';
import type { Path } from './mistakes.js';

/** A kind of engine as the catalog sees it. */
export interface EngineKind {
  readonly kind: string;
  /** JSON Schema (draft-07) of the agent's `engine` object, `kind` included; it refuses unknown keys. */
  readonly optionsSchema: JsonObject;
  /** What the options' schema cannot see, such as a missing module. Asked only where the schema found nothing. */
  check(agent: AgentDefinition, environment: { baseDirectory: string }): Promise<EngineFinding[]>;
}

export interface EngineFinding {
  /** Inside the agent's `engine` object. */
  path: Path;
  message: string;
  /** True where the agent can run all the same. */
  warning?: boolean;
}
