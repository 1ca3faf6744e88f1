import type { Schemas } from '../api/requests';

/** The choices of a filter by agent: all agents, and the one that the URL names although the configuration lacks it. */
export const agentChoices = (
  agents: readonly Schemas['AgentBody'][],
  current: string,
): { value: string; text: string }[] =>
  [...new Set(['', current, ...agents.map(({ name }) => name)])].map((name) => ({ value: name, text: name || 'any' }));
