import type { AgentDefinition } from './definitions.js';
import type { AgentOverride } from './override-options.js';
import type { ReplayConfiguration } from './replay-configuration.js';

/** By the names of the agents. */
export type Overrides = Readonly<Record<string, AgentOverride>>;

export const overriddenAgent = (agent: AgentDefinition, override: AgentOverride): AgentDefinition => ({
  ...agent,
  engine: { ...agent.engine, ...override },
});

export const overrideOf = (overrides: Overrides | null, agent: string): AgentOverride | null =>
  overrides !== null && Object.hasOwn(overrides, agent) ? overrides[agent]! : null;

/** The differences of a replay from the configuration of the service. */
export interface ReplayChanges {
  /** The configuration that agents are taken from. Null for none. */
  configuration: ReplayConfiguration | null;
  overrides: Overrides | null;
}

export const NO_CHANGES: ReplayChanges = { configuration: null, overrides: null };

/** The differences of one agent in a replay. */
export interface AgentChange {
  configuration: ReplayConfiguration | null;
  override: AgentOverride | null;
}

/** Null if the agent runs as in the configuration of the service. */
export function changeOf({ configuration, overrides }: ReplayChanges, agent: string): AgentChange | null {
  const override = overrideOf(overrides, agent);
  return configuration === null && override === null ? null : { configuration, override };
}
