import { type AgentDefinition, OUTSIDE, type Subscription, WORKFLOW_ERROR } from './definitions.js';

/**
 * Which agents can trigger which according to the configuration; predicates and visibility are not considered.
 * Publishers and subscriptions meet at keys, which consist of a type and, if a subscription requires them, a producer
 * and a tag. An edge for each pair of agents would be quadratic in the number of agents that share a type.
 */
export class TriggerGraph {
  private readonly publishers = new Map<string, Set<string>>();
  private readonly takers = new Map<string, Subscription[]>();

  constructor(
    private readonly agents: ReadonlyMap<string, AgentDefinition>,
    subscriptions: Iterable<Subscription>,
  ) {
    for (const subscription of subscriptions) {
      for (const key of subscription.types.flatMap((type) => takenKeys(subscription, type)))
        listAt(this.takers, key).push(subscription);
    }
    for (const agent of agents.values()) {
      for (const key of this.keysOf(agent))
        this.publishers.set(key, (this.publishers.get(key) ?? new Set()).add(agent.name));
    }
  }

  /** The keys at which `agent` publishes and a subscription takes artifacts. */
  keysOf(agent: AgentDefinition): string[] {
    return publishedKeys(agent).filter((key) => this.takers.has(key));
  }

  takersAt(key: string): readonly Subscription[] {
    return this.takers.get(key) ?? [];
  }

  /**
   * The agents that may get what is published at `key`. The publisher can be among them; `takesFrom` says whether it
   * gets it.
   */
  agentsAt(key: string): AgentDefinition[] {
    return this.takersAt(key).map(({ agent }) => this.agents.get(agent)!);
  }

  /** True if the agents publish as many of the subscription's types as it needs. */
  feeds(subscription: Subscription): boolean {
    return needs(subscription, (type) => this.brings(subscription, type));
  }

  brings(subscription: Subscription, type: string): boolean {
    return takenKeys(subscription, type).some((key) => {
      const names = this.publishers.get(key);
      return names !== undefined && names.size > Number(names.has(subscription.agent) && !subscription.allowSelf);
    });
  }

  /** Removes the outputs of `agent`. Returns the subscriptions that may no longer be fed. */
  silence(agent: AgentDefinition): Subscription[] {
    return this.keysOf(agent).flatMap((key) => {
      const names = this.publishers.get(key)!;
      names.delete(agent.name);
      return names.size < 2 ? this.takersAt(key) : [];
    });
  }
}

/** An agent takes its own output only if the subscription allows it. */
export const takesFrom = (subscription: Subscription, { name }: AgentDefinition): boolean =>
  subscription.allowSelf || subscription.agent !== name;

/** True if a client could publish an artifact of `type` that `subscription` takes. */
export const takesFromClients = ({ fromAgents }: Subscription, type: string): boolean =>
  type !== WORKFLOW_ERROR && (fromAgents.length === 0 || OUTSIDE.some((producer) => fromAgents.includes(producer)));

/** True if as many of its types arrive as the subscription needs. */
export const needs = ({ mode, types }: Subscription, comes: (type: string) => boolean): boolean =>
  mode === 'all' ? types.every(comes) : types.some(comes);

function takenKeys({ fromAgents, tags }: Subscription, type: string): string[] {
  // Errors have no tags.
  if (type === WORKFLOW_ERROR && tags.length > 0) return [];
  return keysFor(type, orAny(fromAgents), orAny(tags));
}

const publishedKeys = ({ name, outputs }: AgentDefinition): string[] => [
  ...outputs.flatMap(({ type, tags }) => keysFor(type, [name, null], [...tags, null])),
  // Every agent can fail.
  ...keysFor(WORKFLOW_ERROR, [name, null], [null]),
];

const keysFor = (type: string, producers: readonly (string | null)[], tags: readonly (string | null)[]): string[] =>
  producers.flatMap((producer) => tags.map((tag) => JSON.stringify([type, producer, tag])));

const orAny = (names: readonly string[]): readonly (string | null)[] => (names.length === 0 ? [null] : names);

function listAt<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
