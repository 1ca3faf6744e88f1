import type { Catalog } from './catalog.js';
import { EXTERNAL, type AgentDefinition, type Subscription } from './definitions.js';
import { takesFrom, takesFromClients } from './triggering.js';

/** A doubt about one agent; `below` is the path inside the agent. */
export interface AgentWarning {
  agent: string;
  below: (string | number)[];
  message: string;
}

/** Producers that do not exist, and agents that no artifact can ever trigger. */
export function triggerWarnings(catalog: Catalog): AgentWarning[] {
  return catalog.agents.flatMap((agent) => {
    const warnings = agent.subscriptions.flatMap((subscription) => unknownProducers(subscription, catalog));
    if (agent.subscriptions.some((subscription) => canTrigger(subscription, catalog.agents))) return warnings;
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

function canTrigger(subscription: Subscription, agents: readonly AgentDefinition[]): boolean {
  const comes = (type: string): boolean =>
    takesFromClients(subscription, type) || agents.some((producer) => takesFrom(subscription, type, producer));
  return subscription.mode === 'all' ? subscription.types.every(comes) : subscription.types.some(comes);
}
