import { groupKindOf } from '../../agent-text';
import type { Schemas } from '../../api/requests';

export type Agent = Schemas['AgentBody'];
export type Subscription = Schemas['SubscriptionBody'];

export type CatalogNode =
  | { kind: 'type'; id: string; name: string }
  | { kind: 'agent'; id: string; agent: Agent }
  | { kind: 'join' | 'window'; id: string; agent: Agent; index: number; subscription: Subscription }
  /** The node at which the inputs of an agent meet, if it has several. */
  | { kind: 'meeting'; id: string };

export interface CatalogEdge {
  from: string;
  to: string;
  name: string;
  /** The agent to which all that triggers it comes along this edge. */
  into?: string;
}

export interface CatalogGraph {
  nodes: CatalogNode[];
  edges: CatalogEdge[];
}

const typeId = (name: string): string => `type ${name}`;

/** Types, agents, and the joins and windows in which artifacts wait between them. */
export function catalogGraph(typeNames: readonly string[], agents: readonly Agent[]): CatalogGraph {
  const nodes: CatalogNode[] = namesOf(typeNames, agents).map((name) => ({ kind: 'type', id: typeId(name), name }));
  const edges: CatalogEdge[] = [];
  for (const agent of agents) {
    const id = `agent ${agent.name}`;
    nodes.push({ kind: 'agent', id, agent });
    const inputs = new Map<string, string>();
    agent.subscriptions.forEach((subscription, index) => {
      const kind = groupKindOf(subscription);
      if (kind === undefined) {
        for (const type of subscription.types) inputs.set(typeId(type), type);
        return;
      }
      const group = `${kind} ${agent.name} ${index}`;
      const name = `${kind} of ${agent.name}`;
      nodes.push({ kind, id: group, agent, index, subscription });
      inputs.set(group, name);
      for (const type of subscription.types)
        edges.push({ from: typeId(type), to: group, name: `${type} to the ${name}` });
    });
    let entry = id;
    if (inputs.size > 1) {
      entry = `meeting ${agent.name}`;
      nodes.push({ kind: 'meeting', id: entry });
      edges.push({ from: entry, to: id, name: `inputs of ${agent.name}`, into: agent.name });
    }
    for (const [from, name] of inputs)
      edges.push({ from, to: entry, name: `${name} to ${agent.name}`, ...(entry === id && { into: agent.name }) });
    for (const type of agent.outputs) edges.push({ from: id, to: typeId(type), name: `${agent.name} to ${type}` });
  }
  return { nodes, edges };
}

/** The type of what is published for each failed execution. It is declared always, and seldom of use. */
const WORKFLOW_ERROR = 'WorkflowError';

/** A type may be in use without a declaration. */
function namesOf(typeNames: readonly string[], agents: readonly Agent[]): string[] {
  const used = agents.flatMap(({ subscriptions, outputs }) => [
    ...subscriptions.flatMap(({ types }) => types),
    ...outputs,
  ]);
  return [...new Set([...typeNames.filter((name) => name !== WORKFLOW_ERROR), ...used])];
}

export const agentsOf = (nodes: readonly CatalogNode[]): Agent[] =>
  nodes.flatMap((node) => (node.kind === 'agent' ? [node.agent] : []));
