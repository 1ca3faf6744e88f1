import type { AgentDefinition } from './definitions.js';

/** The options of an engine that a replay may override. They are data alone, and decide on no code, address or key. */
export const OVERRIDABLE = ['expression', 'instructions', 'temperature', 'max_output_tokens', 'model'] as const;

export type AgentOverride = { readonly [Option in (typeof OVERRIDABLE)[number]]?: string | number };

/** By the names of the agents. */
export type Overrides = Readonly<Record<string, AgentOverride>>;

export const overriddenAgent = (agent: AgentDefinition, override: AgentOverride): AgentDefinition => ({
  ...agent,
  engine: { ...agent.engine, ...override },
});

export const overrideOf = (overrides: Overrides | null, agent: string): AgentOverride | null =>
  overrides !== null && Object.hasOwn(overrides, agent) ? overrides[agent]! : null;
