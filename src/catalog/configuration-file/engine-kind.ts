import type { JsonObject } from '../../common/json.js';
import type { Environment } from '../../config/environment.js';
import type { Catalog } from '../catalog.js';
import type { AgentDefinition } from '../definitions.js';
import type { Path } from '../diagnostics.js';
import type { AgentCode } from '../stored-definition.js';

/** The catalog's view of an engine kind. */
export interface EngineKind {
  readonly kind: string;
  /** JSON Schema (draft-07) of the agent's `engine` object, including `kind`. It refuses unknown keys. */
  readonly optionsSchema: JsonObject;
  /**
   * Finds problems that the schema cannot express, such as a missing module. Called only if the schema found no
   * problem.
   */
  check(agent: AgentDefinition, checks: EngineChecks): Promise<EngineFinding[]>;
  /** Returns the agent's code. Called after `check` has found no error. Missing if its agents have no code of their authors. */
  code?(agent: AgentDefinition, checks: EngineChecks): AgentCode;
}

/** The input of an engine's check. */
export interface EngineChecks {
  /** The configuration file's folder. */
  baseDirectory: string;
  environment: Environment;
  catalog: Catalog;
}

export interface EngineFinding {
  /** The path inside the agent's `engine` object. */
  path: Path;
  message: string;
  /** The position in the text at `path`, in characters, if the problem is inside it. */
  offset?: number;
  /** True if the agent can still run. */
  warning?: boolean;
}
