import type { AgentDefinition } from './definitions.js';
import type { AgentOverride } from './override-options.js';

/** By the names of the agents. */
export type Overrides = Readonly<Record<string, AgentOverride>>;

export const overriddenAgent = (agent: AgentDefinition, override: AgentOverride): AgentDefinition => ({
  ...agent,
  engine: { ...agent.engine, ...override },
});

export const overrideOf = (overrides: Overrides | null, agent: string): AgentOverride | null =>
  overrides !== null && Object.hasOwn(overrides, agent) ? overrides[agent]! : null;
