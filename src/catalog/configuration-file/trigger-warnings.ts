import type { Catalog } from '../catalog.js';
import { EXTERNAL, type Subscription } from '../definitions.js';
import { needs, takesFromClients, TriggerGraph } from '../trigger-graph.js';

/** A doubt about one agent; `below` is the path inside the agent. */
export interface AgentWarning {
  agent: string;
  below: (string | number)[];
  message: string;
}

/** Producers that do not exist, and agents that no artifact can ever trigger. */
export function triggerWarnings(catalog: Catalog): AgentWarning[] {
  const graph = new TriggerGraph(new Map(catalog.agents.map((agent) => [agent.name, agent])), catalog.agents.flatMap(({ subscriptions }) => subscriptions));
  const canTrigger = (subscription: Subscription): boolean =>
    needs(subscription, (type) => takesFromClients(subscription, type) || graph.brings(subscription, type));
  return catalog.agents.flatMap((agent) => {
    const warnings = agent.subscriptions.flatMap((subscription) => unknownProducers(subscription, catalog));
    if (agent.subscriptions.some(canTrigger)) return warnings;
    const message = 'no artifact can trigger this agent, so it runs only where a caller names it; see its from_agents, types and tags';
    return [...warnings, { agent: agent.name, below: [], message }];
  });
}

function unknownProducers({ agent, index, fromAgents }: Subscription, catalog: Catalog): AgentWarning[] {
  return fromAgents.flatMap((name, position) => {
    if (name === EXTERNAL || catalog.agent(name)) return [];
    return [{ agent, below: ['consumes', index, 'from_agents', position], message: `no agent is named ${name}, so nothing comes from it` }];
  });
}
