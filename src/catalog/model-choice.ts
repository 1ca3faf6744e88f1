import { listed } from '../common/names-in-messages.js';
import type { Catalog } from './catalog.js';
import type { AgentDefinition } from './definitions.js';

/** Returns why an agent must not use this model instead of the one that it has. Null if it may. */
export function modelProblem(agent: AgentDefinition, model: string, { models, agents }: Catalog): string | null {
  const known = new Set([...models.keys(), ...agents.flatMap((each) => modelOf(each) ?? [])]);
  if (!known.has(model)) return `must be a model that the configuration names: ${listed([...known], 'or')}`;
  const configured = modelOf(agent) ?? '';
  // The key of one provider must not be sent to the server of another one.
  return agent.engine.base_url === undefined || providerOf(model) === providerOf(configured)
    ? null
    : `must be a model of ${providerOf(configured)}, because ${agent.name} has a base_url`;
}

const modelOf = ({ engine }: AgentDefinition): string | undefined =>
  typeof engine.model === 'string' ? engine.model : undefined;

const providerOf = (model: string): string => model.slice(0, model.indexOf('/'));
