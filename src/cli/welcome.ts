import type { Catalog } from '../catalog/catalog.js';
import type { ArtifactType } from '../catalog/definitions.js';
import type { Role } from '../common/role.js';

export interface Started {
  role: Role;
  catalog: Catalog;
  url: string;
  /** The bound address, if it differs from the one in `url`. */
  wildcard: string | null;
  /** Whether the web app is served. */
  dashboard: boolean;
}

/** The text for the terminal after the start. It ends with the address that a person opens first. */
export function welcome({ role: { api, worker }, catalog, url, wildcard, dashboard }: Started): string {
  const { length } = catalog.agents;
  const agents = `${length} ${length === 1 ? 'agent' : 'agents'}`;
  if (!api) return `Working for ${agents}; health at ${url}/health, metrics at ${url}/metrics`;
  const command = curlLine(catalog, url);
  const open = wildcard === null ? '' : ` (bound to ${wildcard})`;
  const served = `Serving ${agents}${worker ? '' : ', which workers run,'} at ${url}${open}`;
  const pages = `documentation at ${url}/docs${dashboard ? `, dashboard at ${url}/dashboard` : ''}`;
  return `${command ? `Try: ${command}\n` : ''}${served}, ${pages}`;
}

/**
 * A command that publishes an example of the first type that an agent subscribes to; undefined if no schema has an
 * example.
 */
function curlLine(catalog: Catalog, url: string): string | undefined {
  const type = catalog.types.find(
    ({ name, schema }) => exampleOf(schema) !== undefined && catalog.subscriptionsTo(name).length > 0,
  );
  if (!type) return undefined;
  const body = JSON.stringify({ type: type.name, payload: exampleOf(type.schema) });
  return `curl -s ${url}/api/v1/artifacts/sync -H 'Content-Type: application/json' -d '${body.replaceAll("'", "'\\''")}'`;
}

function exampleOf(schema: ArtifactType['schema']): unknown {
  const examples = schema?.examples;
  return Array.isArray(examples) ? examples[0] : undefined;
}
