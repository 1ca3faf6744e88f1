import { nearestName } from '../../common/names-in-messages.js';
import { shown } from '../../common/short-text.js';
import { ClientError } from './client-errors.js';
import type { Server } from './server.js';
import { typedCommand } from './typed-command.js';

/** The options that name agents or types of the configuration. */
export interface NamingOptions {
  agent?: string;
  producedBy?: string[];
  type?: string[];
}

/** The producer of what clients publish. */
const OUTSIDE = ['external', 'schedule'];

/**
 * Throws a ClientError if an option names an agent or a type that the configuration does not have. Only for filters
 * that match nothing: agents and types that are not in the configuration any more still have executions and artifacts.
 */
export async function refuseUnknownNames(
  server: Server,
  { agent, producedBy = [], type = [] }: NamingOptions,
): Promise<void> {
  const producers = producedBy.filter((name) => !OUTSIDE.includes(name));
  if (agent !== undefined || producers.length > 0) {
    const { agents } = await server.get<{ agents: { name: string }[] }>('/api/v1/agents');
    const known = agents.map(({ name }) => name);
    const advice = `${typedCommand(server.url, 'agents')} lists the agents`;
    if (agent !== undefined) refuseUnknown('--agent', 'agent', [agent], known, advice);
    refuseUnknown('--produced-by', 'agent', producers, known, advice);
  }
  if (type.length === 0) return;
  const { artifact_types: types } = await server.get<{ artifact_types: { name: string }[] }>('/api/v1/artifact-types');
  const advice = `GET ${server.url}/api/v1/artifact-types lists the types`;
  refuseUnknown(
    '--type',
    'type',
    type,
    types.map(({ name }) => name),
    advice,
  );
}

function refuseUnknown(option: string, what: string, given: string[], known: string[], advice: string): void {
  const unknown = given.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const nearest = nearestName(unknown, known);
  throw new ClientError(
    `${option}: unknown ${what} ${shown(unknown)}; ${nearest === undefined ? advice : `did you mean ${nearest}?`}`,
  );
}
