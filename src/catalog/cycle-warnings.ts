import type { Catalog } from './catalog.js';
import type { AgentDefinition, Subscription } from './definitions.js';
import { takesFrom } from './triggering.js';
import type { AgentWarning } from './trigger-warnings.js';

/** Agents that trigger each other round and round, with nothing on the way that could stop it but a limit. */
export function cycleWarnings(catalog: Catalog): AgentWarning[] {
  return endlessCycles(catalog.agents).map((cycle) => {
    const way = [...cycle, cycle[0]!].map(({ name }) => name).join(' → ');
    const message = `${way} is a cycle without a stop: give one of its subscriptions a where, or max_executions_per_correlation ends it with a WorkflowError`;
    return { agent: cycle[0]!.name, below: [], message };
  });
}

/** One shortest cycle for each group of agents that keep each other going. */
function endlessCycles(agents: readonly AgentDefinition[]): AgentDefinition[][] {
  let open = agents.flatMap(({ subscriptions }) => subscriptions).filter(neverStops);
  for (;;) {
    const groups = groupsOf(agents, open);
    // A join goes on only where the cycle itself brings all of its types.
    const fed = open.filter((subscription) => isFed(subscription, groups.get(subscription.agent) ?? []));
    if (fed.length === open.length) return shortestCycles(agents, groups, open);
    open = fed;
  }
}

/** A window that waits for a number of artifacts, and for no time, can stay half filled for ever. */
function neverStops({ where, batch }: Subscription): boolean {
  return where === null && !(batch && batch.timeoutMs === null && batch.size !== 1);
}

function isFed(subscription: Subscription, group: readonly AgentDefinition[]): boolean {
  const comes = (type: string): boolean => group.some((producer) => takesFrom(subscription, type, producer));
  return subscription.mode === 'all' ? subscription.types.every(comes) : subscription.types.some(comes);
}

type Followers = (agent: AgentDefinition) => AgentDefinition[];

const followersBy =
  (agents: readonly AgentDefinition[], open: readonly Subscription[]): Followers =>
  (producer) =>
    agents.filter(({ name }) =>
      open.some((subscription) => subscription.agent === name && subscription.types.some((type) => takesFrom(subscription, type, producer))),
    );

/** By agent: those that it can trigger, step by step, and that can trigger it. */
function groupsOf(agents: readonly AgentDefinition[], open: readonly Subscription[]): Map<string, AgentDefinition[]> {
  const followers = followersBy(agents, open);
  const reached = new Map(agents.map((agent) => [agent, reachableFrom(agent, followers)]));
  return new Map(agents.map((agent) => [agent.name, [...reached.get(agent)!].filter((other) => reached.get(other)!.has(agent))]));
}

function reachableFrom(start: AgentDefinition, followers: Followers): Set<AgentDefinition> {
  const reached = new Set(followers(start));
  // A set's iteration also visits what is added to it meanwhile.
  for (const agent of reached) for (const next of followers(agent)) reached.add(next);
  return reached;
}

function shortestCycles(agents: readonly AgentDefinition[], groups: Map<string, AgentDefinition[]>, open: readonly Subscription[]): AgentDefinition[][] {
  const followers = followersBy(agents, open);
  const told = new Set<AgentDefinition>();
  return agents.flatMap((agent) => {
    if (told.has(agent)) return [];
    const group = groups.get(agent.name)!;
    for (const member of group) told.add(member);
    return group.length === 0 ? [] : [shortestCycle(agent, followers)];
  });
}

function shortestCycle(start: AgentDefinition, followers: Followers): AgentDefinition[] {
  const cameFrom = new Map<AgentDefinition, AgentDefinition[]>([[start, [start]]]);
  for (const [agent, way] of cameFrom) {
    for (const next of followers(agent)) {
      if (next === start) return way;
      if (!cameFrom.has(next)) cameFrom.set(next, [...way, next]);
    }
  }
  return [start];
}
