import { stronglyConnected } from '../../common/strongly-connected.js';
import type { Catalog } from '../catalog.js';
import { type AgentDefinition, OUTSIDE, type Subscription } from '../definitions.js';
import { needs, takesFrom, takesFromClients, TriggerGraph } from '../trigger-graph.js';
import { meant } from '../unknown-names.js';

/** A warning about one agent. `below` is the path inside the agent. */
export interface AgentWarning {
  agent: string;
  below: (string | number)[];
  message: string;
}

/** Warns about producers that do not exist and agents that no artifact can trigger. */
export function triggerWarnings(catalog: Catalog): AgentWarning[] {
  const graph = new TriggerGraph(
    new Map(catalog.agents.map((agent) => [agent.name, agent])),
    catalog.agents.flatMap(({ subscriptions }) => subscriptions),
  );
  const canTrigger = (subscription: Subscription): boolean =>
    needs(subscription, (type) => takesFromClients(subscription, type) || graph.brings(subscription, type));
  return catalog.agents.flatMap((agent) => {
    const producers = agent.subscriptions.flatMap((subscription) => unknownProducers(subscription, catalog));
    const warnings = [...producers, ...unknownViewers(agent, catalog)];
    // An unknown producer is a reason why nothing triggers the agent.
    if (producers.length > 0 || agent.subscriptions.some(canTrigger)) return warnings;
    const message =
      'no artifact can trigger this agent, so it runs only if a caller names it; check its from_agents, types and tags';
    return [...warnings, { agent: agent.name, below: [], message }];
  });
}

function unknownProducers({ agent, index, fromAgents }: Subscription, catalog: Catalog): AgentWarning[] {
  return fromAgents.flatMap((name, position) => {
    if (OUTSIDE.includes(name) || catalog.agent(name)) return [];
    return [
      {
        agent,
        below: ['consumes', index, 'from_agents', position],
        message: `no agent has the name ${name}, so it publishes nothing${meant(name, [...catalog.agents, ...OUTSIDE.map((each) => ({ name: each }))]) ?? ''}`,
      },
    ];
  });
}

function unknownViewers({ name: agent, outputs }: AgentDefinition, catalog: Catalog): AgentWarning[] {
  return outputs.flatMap(({ visibility }, index) => {
    const [visible, below] =
      visibility.kind === 'After' ? [visibility.then, ['visibility', 'then']] : [visibility, ['visibility']];
    if (visible?.kind !== 'Private') return [];
    return visible.agents.flatMap((name, position) => {
      if (catalog.agent(name)) return [];
      return [
        {
          agent,
          below: ['publishes', index, ...below, 'agents', position],
          message: `no agent has the name ${name}, so this entry has no effect${meant(name, catalog.agents) ?? ''}`,
        },
      ];
    });
  });
}

/** The maximum number of agents that a warning names. */
const MOST_NAMED = 20;

/** Warns about agents that trigger each other in a cycle which only a limit can stop. */
export function cycleWarnings(catalog: Catalog): AgentWarning[] {
  return endlessCycles(byName(catalog.agents)).map((cycle) => {
    const message = `${described(cycle)} is a cycle without a stop: add a where to one of its subscriptions, or max_executions_per_correlation ends it with a WorkflowError`;
    return { agent: cycle[0]!.name, below: [], message };
  });
}

function described(cycle: readonly AgentDefinition[]): string {
  const names = cycle.map(({ name }) => name);
  const further = names.length > MOST_NAMED ? [`${names.length - MOST_NAMED} more`] : [];
  return [...names.slice(0, MOST_NAMED), ...further, names[0]].join(' → ');
}

type Agents = ReadonlyMap<string, AgentDefinition>;
type Subscriptions = ReadonlySet<Subscription>;

const byName = (agents: readonly AgentDefinition[]): Agents => new Map(agents.map((agent) => [agent.name, agent]));

const those = (agents: Agents, open: Subscriptions): Subscription[] =>
  [...agents.values()].flatMap(({ subscriptions }) => subscriptions.filter((each) => open.has(each)));

/** Returns a shortest cycle for each group of agents that trigger each other. */
function endlessCycles(agents: Agents): AgentDefinition[][] {
  let open: Subscriptions = new Set(
    [...agents.values()].flatMap(({ subscriptions }) => subscriptions.filter(neverStops)),
  );
  for (;;) {
    const groups = groupsOf(agents, new TriggerGraph(agents, open));
    const fed = new Set(groups.flatMap((group) => fedWithin(group, those(group, open))));
    if (fed.size === open.size) return groups.flatMap((group) => shortestCycle(group, open));
    open = fed;
  }
}

/** A window with a size and without a timeout stops a cycle, because it can stay half filled forever. */
function neverStops({ where, batch }: Subscription): boolean {
  return where === null && !(batch && batch.timeoutMs === null && batch.size !== 1);
}

/** Returns the groups of agents that can trigger each other, directly or not, in the order of the configuration. */
function groupsOf(agents: Agents, graph: TriggerGraph): Agents[] {
  type Node = AgentDefinition | string;
  const successors = (node: Node): Node[] => (typeof node === 'string' ? graph.agentsAt(node) : graph.keysOf(node));
  const components = stronglyConnected<Node>(agents.values(), successors);
  const componentOf = new Map(components.flatMap((nodes) => nodes.map((node) => [node, nodes])));
  return [...Map.groupBy(agents.values(), (agent) => componentOf.get(agent)).values()].map(byName);
}

/**
 * Returns the subscriptions that the group itself feeds. A join is fed only if the group publishes all of its types.
 */
function fedWithin(group: Agents, open: readonly Subscription[]): Subscription[] {
  const graph = new TriggerGraph(group, open);
  const fed = new Set(open);
  const toCheck = [...open];
  // The loop also visits what is pushed during it.
  for (const subscription of toCheck) {
    if (!fed.has(subscription) || graph.feeds(subscription)) continue;
    fed.delete(subscription);
    const agent = group.get(subscription.agent)!;
    if (!agent.subscriptions.some((each) => fed.has(each))) toCheck.push(...graph.silence(agent));
  }
  return [...fed];
}

function shortestCycle(group: Agents, open: Subscriptions): AgentDefinition[][] {
  const [start] = group.values();
  const graph = new TriggerGraph(group, those(group, open));
  const back = new TriggerGraph(group, those(byName([start!]), open));
  const leadsBack = (agent: AgentDefinition): boolean =>
    back.keysOf(agent).some((key) => back.takersAt(key).some((each) => takesFrom(each, agent)));
  const before = new Map<AgentDefinition, AgentDefinition | null>([[start!, null]]);
  const passed = new Set<string>();
  for (const [agent] of before) {
    if (leadsBack(agent)) return [wayTo(agent, before)];
    const keys = graph.keysOf(agent).filter((key) => !passed.has(key));
    keys.forEach((key) => passed.add(key));
    for (const next of keys.flatMap((key) => graph.agentsAt(key))) if (!before.has(next)) before.set(next, agent);
  }
  return [];
}

function wayTo(end: AgentDefinition, before: ReadonlyMap<AgentDefinition, AgentDefinition | null>): AgentDefinition[] {
  const way: AgentDefinition[] = [];
  for (let agent: AgentDefinition | null = end; agent; agent = before.get(agent)!) way.push(agent);
  return way.reverse();
}
