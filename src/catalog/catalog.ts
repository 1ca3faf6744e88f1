import type { Budget, ModelTerms } from './costs.js';
import type { AgentDefinition, ArtifactType, Subscription } from './definitions.js';
import { defineLimit, type Limit, singletonAgent } from './limits.js';
import { configurationKey, configurationKeys, type ReplayConfiguration } from './replay-configuration.js';
import type { ConfiguredSchedule } from './schedules/schedule.js';
import type { ConfiguredDefinition } from './stored-definition.js';

/** The artifact types and agents of this process. They do not change while it runs. */
export class Catalog {
  /** Keyed by the names that agents use for models. */
  readonly models: ReadonlyMap<string, ModelTerms>;
  /** The budget of every correlation. */
  readonly budget: Budget | null;
  /** The limits of the configuration file, by their names. */
  readonly limits: ReadonlyMap<string, Limit>;
  /** The digest of its configuration. Empty if the catalog was not made from one. */
  readonly digest: string;
  /** The schedules of the configuration file. */
  readonly schedules: readonly ConfiguredSchedule[];
  /** The definition of each agent, by its name. Empty if the catalog was not made from a configuration. */
  readonly definitions: ReadonlyMap<string, ConfiguredDefinition>;
  /** The catalogs of the configurations that replays may name. Each has the agents that its file defines. */
  readonly replayCatalogs: ReadonlyMap<string, Catalog>;
  private readonly agentsByName: Map<string, AgentDefinition>;
  private readonly typesByName: Map<string, ArtifactType>;
  private readonly subscriptionsByType = new Map<string, Subscription[]>();
  private readonly cancelledByType: ReadonlyMap<string, AgentDefinition[]>;

  constructor(
    readonly types: readonly ArtifactType[],
    readonly agents: readonly AgentDefinition[],
    /** The configuration file's folder. Relative paths in engine options start here. */
    readonly baseDirectory = '.',
    {
      models = new Map(),
      budget = null,
      limits = new Map(),
      digest = '',
      schedules = [],
      definitions = new Map(),
      replayCatalogs = new Map(),
    }: {
      models?: ReadonlyMap<string, ModelTerms>;
      budget?: Budget | null;
      limits?: ReadonlyMap<string, Limit>;
      digest?: string;
      schedules?: readonly ConfiguredSchedule[];
      definitions?: ReadonlyMap<string, ConfiguredDefinition>;
      replayCatalogs?: ReadonlyMap<string, Catalog>;
    } = {},
  ) {
    this.models = models;
    this.budget = budget;
    this.limits = limits;
    this.digest = digest;
    this.schedules = schedules;
    this.definitions = definitions;
    this.replayCatalogs = replayCatalogs;
    this.typesByName = new Map(types.map((type) => [type.name, type]));
    this.agentsByName = new Map(agents.map((agent) => [agent.name, agent]));
    this.cancelledByType = byType(agents);
    for (const subscription of agents.flatMap((agent) => agent.subscriptions)) {
      for (const type of subscription.types) {
        const known = this.subscriptionsByType.get(type);
        if (known) known.push(subscription);
        else this.subscriptionsByType.set(type, [subscription]);
      }
    }
  }

  agent(name: string): AgentDefinition | undefined {
    return this.agentsByName.get(name);
  }

  /**
   * Returns the catalog that an agent is taken from in a replay with this configuration. An agent with an equal definition
   * there runs as without a configuration, so that it keeps its variants. Call this only if the process `canReplay` with
   * it.
   */
  forReplay(agent: string, configuration: ReplayConfiguration | null): Catalog {
    const named = configuration === null ? undefined : this.replayCatalogs.get(configuration.name);
    const digest = named?.definitions.get(agent)?.digest;
    const isEqual = digest !== undefined && digest === this.definitions.get(agent)?.digest;
    return named?.agent(agent) && !isEqual ? named : this;
  }

  /** Returns the names of the configurations that replays may take an agent from. */
  configurationsOf(agent: string): string[] {
    return [...this.replayCatalogs].flatMap(([name, catalog]) => (catalog.agent(agent) ? [name] : []));
  }

  /** Whether this process has the configuration that a replay takes agents from. */
  canReplay(configuration: ReplayConfiguration | null): boolean {
    return configuration === null || this.replayKeys.includes(configurationKey(configuration));
  }

  /** The keys of the configurations for replays of this process. */
  get replayKeys(): string[] {
    return [...this.replayCatalogs].flatMap(([name, { digest }]) => configurationKeys(name, digest));
  }

  /** Returns the same catalog with these configurations for replays. */
  withReplayCatalogs(replayCatalogs: ReadonlyMap<string, Catalog>): Catalog {
    const { models, budget, limits, digest, schedules, definitions } = this;
    const further = { models, budget, limits, digest, schedules, definitions, replayCatalogs };
    return new Catalog(this.types, this.agents, this.baseDirectory, further);
  }

  type(name: string): ArtifactType | undefined {
    return this.typesByName.get(name);
  }

  /**
   * Returns a limit of the file, or the turns of an agent, by its name. There are turns whether this process has the agent
   * with `singleton` or not, because another process may have it.
   */
  limit(name: string): Limit | undefined {
    return singletonAgent(name) === null ? this.limits.get(name) : defineLimit(name, { concurrency: 1 });
  }

  /** Returns the digests of the agent's definition and of those with the options of its variants; none if it has no definition. */
  digestsOf(agent: string): string[] {
    const own = this.definitions.get(agent);
    return own ? digestsOf(own) : [];
  }

  /** Whether it is the digest of the agent's definition, or of the agent with the options of one of its variants. */
  hasDefinition(agent: string, digest: string | null): boolean {
    return digest !== null && this.digestsOf(agent).includes(digest);
  }

  /** Returns the subscriptions in the order of the configuration. */
  subscriptionsTo(type: string): readonly Subscription[] {
    return this.subscriptionsByType.get(type) ?? [];
  }

  /** Returns the agents whose executions an artifact of this type may cancel, in the order of the configuration. */
  cancelledBy(type: string): readonly AgentDefinition[] {
    return this.cancelledByType.get(type) ?? [];
  }
}

/** Returns the digest of an agent, and then those of its variants. */
export const digestsOf = (own: ConfiguredDefinition): string[] => [
  own.digest,
  ...[...own.variants.values()].map(({ digest }) => digest),
];

function byType(agents: readonly AgentDefinition[]): Map<string, AgentDefinition[]> {
  const pairs = agents.flatMap((agent) => (agent.cancelOn?.types ?? []).map((type) => ({ type, agent })));
  return new Map(
    [...Map.groupBy(pairs, ({ type }) => type)].map(([type, some]) => [type, some.map(({ agent }) => agent)]),
  );
}
