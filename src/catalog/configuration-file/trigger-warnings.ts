import type { Catalog } from '../catalog.js';
import { type AgentDefinition, EXTERNAL, type Subscription } from '../definitions.js';
import { needs, takesFromClients, TriggerGraph } from '../trigger-graph.js';

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
    const warnings = [
      ...agent.subscriptions.flatMap((subscription) => unknownProducers(subscription, catalog)),
      ...unknownViewers(agent, catalog),
    ];
    if (agent.subscriptions.some(canTrigger)) return warnings;
    const message =
      'no artifact can trigger this agent, so it runs only if a caller names it; check its from_agents, types and tags';
    return [...warnings, { agent: agent.name, below: [], message }];
  });
}

function unknownProducers({ agent, index, fromAgents }: Subscription, catalog: Catalog): AgentWarning[] {
  return fromAgents.flatMap((name, position) => {
    if (name === EXTERNAL || catalog.agent(name)) return [];
    return [
      {
        agent,
        below: ['consumes', index, 'from_agents', position],
        message: `no agent has the name ${name}, so it publishes nothing`,
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
          message: `no agent has the name ${name}, so this entry has no effect`,
        },
      ];
    });
  });
}
