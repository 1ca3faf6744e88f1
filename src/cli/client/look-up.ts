import { listed, nearestName } from '../../common/names-in-messages.js';
import { shown } from '../../common/short-text.js';
import { ClientError, Refused } from './client-errors.js';
import type { Server } from './server.js';
import { typedCommand } from './typed-command.js';

/** Ids of the same second have many characters in common. More different ones than this are not a typing error. */
const MOST_DIFFERENCES = 4;

/** The longest id of a correlation. */
const LONGEST_PREFIX = 200;

interface Kind {
  /** The path of one, with `{id}` in it. */
  path: string;
  /** How a message names it. */
  name: string;
  /** The command that lists some, and what it lists. */
  list: string[];
  listed: string;
  /** Returns ids that the user may have meant: the newest, or those that begin with what was given. */
  known: (server: Server, given: string) => Promise<string[]>;
}

/** The kinds of things that users name by an id. */
export const KINDS = {
  agent: {
    path: '/api/v1/agents/{id}/history-summary',
    name: 'agent',
    list: ['agents'],
    listed: 'the agents',
    known: async (server) =>
      (await server.get<{ agents: { name: string }[] }>('/api/v1/agents')).agents.map(({ name }) => name),
  },
  artifact: {
    path: '/api/v1/artifacts/{id}',
    name: 'artifact',
    list: ['artifacts'],
    listed: 'the newest artifacts',
    known: async (server, given) => [
      ...(await idsIn(server, '/api/v1/artifacts?order=desc&limit=100&replay=true', 'id')),
      ...(await artifactsSince(server, given)),
    ],
  },
  execution: {
    path: '/api/v1/executions/{id}',
    name: 'execution',
    list: ['executions'],
    listed: 'the newest executions',
    known: (server) => idsIn(server, '/api/v1/executions?limit=500&replay=true', 'id'),
  },
  batch: {
    path: '/batch/{id}?results_limit=0',
    name: 'batch',
    list: ['batch', 'list'],
    listed: 'the newest batches',
    known: (server) => idsIn(server, '/api/v1/batches?limit=500', 'batch_id'),
  },
  run: {
    path: '/run/{id}',
    name: 'run',
    list: ['executions'],
    listed: 'the newest executions',
    // The run of a workflow has the id of its correlation.
    known: () => Promise.resolve([]),
  },
  correlation: {
    path: '/api/v1/correlations/{id}/status',
    name: 'correlation',
    list: ['executions'],
    listed: 'the newest executions',
    known: async (server, given) => [
      ...(await idsIn(server, '/api/v1/correlations?limit=500', 'correlation_id')),
      ...(await idsIn(
        server,
        `/api/v1/correlations?id_prefix=${encodeURIComponent(given.slice(0, LONGEST_PREFIX))}`,
        'correlation_id',
      )),
    ],
  },
} as const satisfies Record<string, Kind>;

export type KindName = keyof typeof KINDS;

/** The part of a path for an id that the user typed. Throws a ClientError if it cannot be one. */
export function idIn(path: string, given: string): string {
  if (['', '.', '..'].includes(given)) throw new ClientError(`${JSON.stringify(given)} is not an id`);
  return path.replace('{id}', () => encodeURIComponent(given));
}

/** Gets what has an id; undefined if nothing does. */
export async function find<T>(server: Server, kind: KindName, id: string): Promise<T | undefined> {
  try {
    return await server.get<T>(idIn(KINDS[kind].path, id));
  } catch (error) {
    if (isUnknown(error)) return undefined;
    throw error;
  }
}

/** Gets what has an id. Throws a ClientError that names the nearest id if nothing does. */
export const findOrAdvise = <T>(server: Server, kind: KindName, id: string): Promise<T> =>
  orAdvise(server, kind, id, server.get<T>(idIn(KINDS[kind].path, id)));

/** Waits for an answer about what has an id. Throws a ClientError that names the nearest id if nothing does. */
export const orAdvise = <T>(server: Server, kind: KindName, id: string, answer: Promise<T>): Promise<T> =>
  answer.catch(async (error: unknown) => {
    throw isUnknown(error) ? await unknown(server, id, [kind]) : error;
  });

/** The error for an id that none of these kinds has. The last kind is the one whose list the message names. */
export async function unknown(server: Server, id: string, kinds: readonly KindName[]): Promise<ClientError> {
  const known = (await Promise.all(kinds.map((kind) => KINDS[kind].known(server, id)))).flat();
  const meant = nearest(id, known);
  const { list, listed: what } = KINDS[kinds.at(-1)!];
  const advice = meant === undefined ? `${typedCommand(server.url, ...list)} lists ${what}` : `did you mean ${meant}?`;
  const names = kinds.map((kind) => KINDS[kind].name);
  return new ClientError(`unknown ${listed(names, 'or')}: ${shown(id)}; ${advice}`);
}

/** A server that knows no such id answers 404, or 400 if ids of this kind have another form. */
const isUnknown = (error: unknown): boolean => error instanceof Refused && [400, 404].includes(error.status);

/** A part of an id was copied, or a few characters are wrong. */
function nearest(given: string, known: readonly string[]): string | undefined {
  // Tables mark with `…` what they cut.
  const typed = given.toLowerCase().replace(/…$/, '');
  const longer = known.find((id) => typed.length > 2 && id.toLowerCase().startsWith(typed));
  return longer ?? nearestName(given, known, MOST_DIFFERENCES);
}

/** The time in an id of the service: its first 48 bits are the milliseconds. A part of them gives an earlier time. */
const TIME_IN_ID = /^([0-9a-f]{8})(?:-([0-9a-f]{0,4}))?/i;

/** An agent's artifact gets its id at most this long after its time. */
const ID_MAKING_MS = 10;

/** The ids of artifacts from the time on that the beginning of an id has. */
async function artifactsSince(server: Server, given: string): Promise<string[]> {
  const [, seconds, rest = ''] = TIME_IN_ID.exec(given) ?? [];
  if (seconds === undefined) return [];
  const from = new Date(parseInt(seconds + rest.padEnd(4, '0'), 16) - ID_MAKING_MS).toISOString();
  return idsIn(server, `/api/v1/artifacts?from=${from}&limit=500&replay=true`, 'id');
}

/** None if the server refuses the query, such as a prefix that no id can have. */
async function idsIn(server: Server, path: string, field: string): Promise<string[]> {
  try {
    const { items } = await server.get<{ items: Record<string, string>[] }>(path);
    return items.map((item) => item[field]!);
  } catch (error) {
    if (isUnknown(error)) return [];
    throw error;
  }
}
