import type { Catalog } from '../../catalog/catalog.js';
import { addPayload, type Components } from '../../features/api-docs/payload-components.js';

/** The part of a configuration that a generated client contains. */
export interface ClientCatalog {
  types: ClientType[];
  /** The agents that external workers can work for. */
  agents: ClientAgent[];
  /** The schemas of the payloads and of their parts, in the terms of OpenAPI 3.0. */
  components: Components;
}

export interface ClientType {
  name: string;
  /** The component of its payload. Null if the type has no schema. */
  component: string | null;
}

export interface ClientAgent {
  name: string;
  consumes: string[];
  publishes: string[];
}

export function clientCatalog({ types, agents }: Pick<Catalog, 'types' | 'agents'>): ClientCatalog {
  const components: Components = {};
  return {
    types: types.map((type) => ({
      name: type.name,
      component: type.schema && addPayload(components, type, type.schema),
    })),
    agents: agents
      .filter(({ engine }) => engine.kind === 'external')
      .map(({ name, subscriptions, outputs }) => ({
        name,
        consumes: [...new Set(subscriptions.flatMap((subscription) => subscription.types))],
        publishes: [...new Set(outputs.map(({ type }) => type))],
      })),
    components,
  };
}
