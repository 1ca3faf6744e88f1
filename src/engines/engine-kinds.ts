import type { Catalog } from '../catalog/catalog.js';
import type { EngineFinding } from '../catalog/configuration-file/engine-kind.js';
import type { AgentDefinition } from '../catalog/definitions.js';
import type { JsonObject } from '../common/json.js';
import type { Engine, EngineEnvironment, PreparedEngine } from './engine.js';

/** The engines of this process, with what they depend on. */
export class EngineKinds {
  private readonly schemas = new Map<string, JsonObject>();
  private readonly others = new Map<Catalog, EngineKinds>();

  constructor(
    private readonly engines: readonly Engine[],
    private readonly environment: EngineEnvironment,
  ) {}

  /** The engines for agents of this catalog, which may be one that replays name. */
  in(catalog: Catalog): EngineKinds {
    if (catalog === this.environment.catalog) return this;
    const { baseDirectory } = catalog;
    const kinds =
      this.others.get(catalog) ?? new EngineKinds(this.engines, { ...this.environment, catalog, baseDirectory });
    this.others.set(catalog, kinds);
    return kinds;
  }

  /** Throws if the kind is unknown. A start with such an agent fails, so no agent of the catalog has one. */
  of({ name, engine }: AgentDefinition): Engine {
    const found = this.engines.find(({ kind }) => kind === engine.kind);
    if (!found) throw new Error(`agent ${name}: unknown engine kind ${engine.kind}`);
    return found;
  }

  /** The kinds whose agents have this option. */
  having(option: string): string[] {
    return this.engines.filter((engine) => hasOption(engine, option)).map(({ kind }) => kind);
  }

  /** The schema of an object with this option of the agent's engine; null if the engine does not have it. */
  schemaOf(agent: AgentDefinition, option: string): JsonObject | null {
    const engine = this.of(agent);
    if (!hasOption(engine, option)) return null;
    const key = `${engine.kind} ${option}`;
    // The same object each time, so that it is compiled once.
    const schema = this.schemas.get(key) ?? { type: 'object', properties: { [option]: optionsOf(engine)[option]! } };
    this.schemas.set(key, schema);
    return schema;
  }

  check(agent: AgentDefinition): Promise<EngineFinding[]> {
    return this.of(agent).check(agent, this.environment);
  }

  prepare(agent: AgentDefinition): Promise<PreparedEngine> {
    return this.of(agent).prepare(agent, this.environment);
  }
}

const optionsOf = ({ optionsSchema }: Engine): JsonObject => (optionsSchema.properties ?? {}) as JsonObject;

const hasOption = (engine: Engine, option: string): boolean => Object.hasOwn(optionsOf(engine), option);
