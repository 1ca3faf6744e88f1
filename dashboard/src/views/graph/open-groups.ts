import { useQuery, useQueryClient, type UseQueryResult } from '@tanstack/react-query';

import { LIVE } from '../../api/queries';
import { get, type Schemas } from '../../api/requests';
import { useLiveRefresh } from '../../live/use-live';

const PATH = '/api/v1/waiting';

const MOST_OF_ALL = 500;
const MOST_OF_AGENT = 100;

const EVERY_MS = 2_000;
const POLL_MS = 10_000;

/** Open groups of one subscription. If they are many, not all of them are counted. */
export interface OpenGroups {
  count: number;
  isAtLeast: boolean;
}

export type OpenGroupsOf = (agent: string, subscription: number) => OpenGroups | undefined;

/** Counts open joins and batch windows of these agents, the only ones that have any. Undefined until they are counted. */
export function useOpenGroups(agents: readonly string[]): { openGroups: OpenGroupsOf; query: UseQueryResult } {
  const client = useQueryClient();
  const queryKey = [PATH, agents];
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => readGroups(agents, signal),
    meta: LIVE,
    refetchInterval: POLL_MS,
    enabled: agents.length > 0,
  });
  useLiveRefresh(
    () => void client.invalidateQueries({ queryKey }),
    ({ event_type }) => event_type !== 'execution_output',
    EVERY_MS,
  );
  const { data } = query;
  return { query, openGroups: (agent, subscription) => data && counted(data, agent, subscription) };
}

interface Read {
  groups: Schemas['OpenGroupBody'][];
  /** Agents that have more groups than were read. */
  cut: string[];
}

/** One request, unless there are many groups. */
async function readGroups(agents: readonly string[], signal: AbortSignal): Promise<Read> {
  const all = await get(PATH, { query: { limit: MOST_OF_ALL } }, signal);
  if (!all.pagination.has_more) return { groups: all.items, cut: [] };
  const pages = await Promise.all(
    agents.map(async (agent) => ({ agent, ...(await get(PATH, { query: { agent, limit: MOST_OF_AGENT } }, signal)) })),
  );
  return {
    groups: pages.flatMap(({ items }) => items),
    cut: pages.filter(({ pagination }) => pagination.has_more).map(({ agent }) => agent),
  };
}

function counted({ groups, cut }: Read, agent: string, subscription: number): OpenGroups {
  const count = groups.filter((group) => group.agent === agent && group.subscription === subscription).length;
  return { count, isAtLeast: cut.includes(agent) };
}
