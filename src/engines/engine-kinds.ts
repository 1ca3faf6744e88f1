import type { EngineFinding } from '../catalog/configuration-file/engine-kind.js';
import type { AgentDefinition } from '../catalog/definitions.js';
import type { JsonObject } from '../common/json.js';
import type { Engine, EngineEnvironment, PreparedEngine } from './engine.js';

/** The engines of this process, with what they depend on. */
export class EngineKinds {
  constructor(
    private readonly engines: readonly Engine[],
    private readonly environment: EngineEnvironment,
  ) {}

  /** Throws if there is no such kind. The checks at start have excluded that for the agents of the catalog. */
  of({ name, engine }: AgentDefinition): Engine {
    const found = this.engines.find(({ kind }) => kind === engine.kind);
    if (!found) throw new Error(`agent ${name}: there is no engine of kind ${engine.kind}`);
    return found;
  }

  /** The kinds whose agents have this option. */
  having(option: string): string[] {
    return this.engines.filter((engine) => optionSchema(engine, option) !== undefined).map(({ kind }) => kind);
  }

  check(agent: AgentDefinition): Promise<EngineFinding[]> {
    return this.of(agent).check(agent, this.environment);
  }

  prepare(agent: AgentDefinition): Promise<PreparedEngine> {
    return this.of(agent).prepare(agent, this.environment);
  }
}

export const optionSchema = ({ optionsSchema }: Engine, option: string): JsonObject | undefined =>
  (optionsSchema.properties as Record<string, JsonObject> | undefined)?.[option];
