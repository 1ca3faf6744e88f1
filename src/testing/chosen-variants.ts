import { Catalog } from '../catalog/catalog.js';
import type { AgentDefinition } from '../catalog/definitions.js';
import { WHOLE } from '../catalog/variants.js';
import { requireAgent } from './agent-answers.js';

/**
 * Returns the catalog with agents that run with the variants of `chosen`, by the names of the agents, and all others with
 * their own options. Without it, the ids of correlations would decide, which are others in each run of a test. Throws
 * an Error if the configuration has no such agent, or the agent has no such variant.
 */
export function withChosenVariants(catalog: Catalog, chosen: Readonly<Record<string, string>>): Catalog {
  for (const [agent, variant] of Object.entries(chosen)) requireVariant(catalog, agent, variant);
  const agents = catalog.agents.map((agent) => withVariant(agent, chosen[agent.name]));
  return new Catalog(catalog.types, agents, catalog.baseDirectory, catalog);
}

function withVariant(agent: AgentDefinition, chosen: string | undefined): AgentDefinition {
  if (!agent.variants) return agent;
  const all = agent.variants.all.map((variant) => ({ ...variant, share: variant.name === chosen ? WHOLE : 0 }));
  return { ...agent, variants: { ...agent.variants, all } };
}

function requireVariant(catalog: Catalog, agent: string, variant: string): void {
  requireAgent(catalog, agent);
  const names = catalog.agent(agent)!.variants?.all.map(({ name }) => name) ?? [];
  if (!names.includes(variant))
    throw new Error(`the agent ${agent} has no variant ${variant}; it has ${names.join(', ') || 'none'}`);
}
