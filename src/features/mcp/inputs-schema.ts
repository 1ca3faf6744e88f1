import type { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition, ArtifactType, Subscription } from '../../catalog/definitions.js';
import { embeddedSchema } from '../../catalog/schemas/embedded-schema.js';
import type { JsonObject } from '../../common/json.js';

type Path = readonly (string | number)[];

/**
 * Returns the JSON Schema of a run's inputs (docs/api.md) and the types that it contains. `path` is its place in the
 * whole schema, to which references are relative.
 */
export function inputsSchema(
  agent: AgentDefinition,
  catalog: Catalog,
  path: Path,
): { schema: JsonObject; types: ArtifactType[] } {
  const subscriptions = reachable(agent.subscriptions);
  const types = [...new Set(subscriptions.flatMap((subscription) => subscription.types))].map((name) =>
    catalog.type(name)!,
  );
  if (subscriptions.length === 1) return { schema: ofSubscription(subscriptions[0]!, catalog, path), types };
  const anyOf = subscriptions.map((subscription, index) =>
    ofSubscription(subscription, catalog, [...path, 'anyOf', index]),
  );
  return { schema: { type: 'object', anyOf }, types };
}

/**
 * Returns the subscriptions that inputs can reach. Inputs go to the first subscription that they fit, and any input
 * fits a subscription with a single type.
 */
function reachable(subscriptions: readonly Subscription[]): readonly Subscription[] {
  const last = subscriptions.findIndex(({ types }) => types.length === 1);
  return last < 0 ? subscriptions : subscriptions.slice(0, last + 1);
}

function ofSubscription({ types, mode }: Subscription, catalog: Catalog, path: Path): JsonObject {
  if (types.length === 1) return embeddedSchema(catalog.type(types[0]!)!, path);
  const properties = Object.fromEntries(
    types.map((name) => [name, embeddedSchema(catalog.type(name)!, [...path, 'properties', name])]),
  );
  const counts: JsonObject = mode === 'all' ? { required: types } : { minProperties: 1, maxProperties: 1 };
  return { type: 'object', properties, ...counts, additionalProperties: false };
}
