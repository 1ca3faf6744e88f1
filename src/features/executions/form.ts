import type { Catalog } from '../../catalog/catalog.js';
import type { JsonObject } from '../../common/json.js';
import { isExternal } from '../../engines/external/external-work.js';

/**
 * Returns the JSON Schema of each type that an external agent publishes, from which clients render a form. Null for
 * other agents.
 */
export function formOf(agentName: string, catalog: Catalog): JsonObject | null {
  const agent = catalog.agent(agentName);
  if (!agent || !isExternal(agent)) return null;
  return Object.fromEntries(agent.outputs.map(({ type }) => [type, catalog.type(type)?.schema ?? { type: 'object' }]));
}
