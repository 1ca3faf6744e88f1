import type { Catalog } from '../../catalog/catalog.js';
import type { JsonObject } from '../../common/json.js';
import { isExternal } from '../../engines/external/external-work.js';

/** What whoever completes an execution fills in: the JSON Schema of each type that its agent publishes. Null for an agent that is not external. */
export function formOf(agentName: string, catalog: Catalog): JsonObject | null {
  const agent = catalog.agent(agentName);
  if (!agent || !isExternal(agent)) return null;
  return Object.fromEntries(agent.outputs.map(({ type }) => [type, catalog.type(type)?.schema ?? { type: 'object' }]));
}
