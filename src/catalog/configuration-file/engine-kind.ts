import type { JsonObject } from '../../common/json.js';
import type { Environment } from '../../config/environment.js';
import type { Catalog } from '../catalog.js';
import type { AgentDefinition } from '../definitions.js';
import type { Path } from '../diagnostics.js';

/** A kind of engine as the catalog sees it. */
export interface EngineKind {
  readonly kind: string;
  /** JSON Schema (draft-07) of the agent's `engine` object, `kind` included; it refuses unknown keys. */
  readonly optionsSchema: JsonObject;
  /** What the options' schema cannot see, such as a missing module. Asked only where the schema found nothing. */
  check(agent: AgentDefinition, checks: EngineChecks): Promise<EngineFinding[]>;
}

/** What an engine's own check may look at. */
export interface EngineChecks {
  /** The configuration file's folder. */
  baseDirectory: string;
  environment: Environment;
  catalog: Catalog;
}

export interface EngineFinding {
  /** Inside the agent's `engine` object. */
  path: Path;
  message: string;
  /** True where the agent can run all the same. */
  warning?: boolean;
}
