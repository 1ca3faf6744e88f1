import {
  keepPreviousData,
  QueryClient,
  type QueryKey,
  useInfiniteQuery,
  useQuery,
  useQueryClient,
  type UseQueryResult,
} from '@tanstack/react-query';

import type { LiveEvent } from '../live/messages';
import { useLiveRefresh } from '../live/use-live';
import { ApiError } from './client';
import { type Answer, get, type GetParams, type GetPath, type GetQuery } from './requests';

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      networkMode: 'always',
      staleTime: 5_000,
      // A refusal stays one. Without an answer, the live connection asks again when the service is back.
      retry: (failures, error) => failures < 2 && error instanceof ApiError && error.status >= 500,
      placeholderData: keepPreviousData,
    },
  },
});

/** Whether a live event may change the answer. */
export type Concerns = (event: LiveEvent) => boolean;

export interface ApiOptions {
  /** The answer is fetched again after such events. Without it, only after the connection was interrupted. */
  live?: Concerns;
  /** The least time between two fetches that live events cause. */
  everyMs?: number;
  /** Also asks again after this time, for what changes without an event. */
  pollMs?: number;
  enabled?: boolean;
}

/** Asks the API, keeps the answer, and asks again when live events concern it. */
export function useApi<P extends GetPath>(
  path: P,
  params?: GetParams<P>,
  { live, everyMs, pollMs, enabled = true }: ApiOptions = {},
): UseQueryResult<Answer<P>> {
  const queryKey = [path, params];
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => get(path, params, signal),
    enabled,
    refetchInterval: pollMs,
  });
  const client = useQueryClient();
  useLiveRefresh(() => void client.invalidateQueries({ queryKey }), enabled ? live : undefined, everyMs);
  return query as UseQueryResult<Answer<P>>;
}

export interface PagesOptions<P extends GetPath, Row> {
  rows: (page: Answer<P>) => readonly Row[];
  /** The parameters that ask for the page after this one; undefined after the last page. */
  next: (page: Answer<P>, pages: Answer<P>[]) => Partial<GetQuery<P>> | undefined;
}

export interface Pages<P extends GetPath, Row> {
  rows: Row[];
  /** The answers themselves, the same array until one of them changes. */
  pages: readonly Answer<P>[];
  first: Answer<P> | undefined;
  error: Error | null;
  isLoading: boolean;
  isLoadingMore: boolean;
  hasMore: boolean;
  loadMore: () => void;
  /** Forgets all pages but the first one and fetches that again. */
  restart: () => Promise<void>;
  /** Fetches all pages again that were read. */
  refresh: () => Promise<void>;
}

const NO_PAGES: never[] = [];

/** Reads a list page by page, as far as it is scrolled. */
export function usePages<P extends GetPath, Row>(
  path: P,
  params: GetParams<P>,
  { rows, next }: PagesOptions<P, Row>,
): Pages<P, Row> {
  const client = useQueryClient();
  const queryKey: QueryKey = [path, params, 'pages'];
  const query = useInfiniteQuery({
    queryKey,
    queryFn: ({ pageParam, signal }) => {
      const { query: filters } = params as { query?: object };
      return get(path, { ...params, query: { ...filters, ...pageParam } } as GetParams<P>, signal);
    },
    initialPageParam: {} as object,
    getNextPageParam: (page, pages) => next(page, pages),
    // Every page that was read would be read again.
    refetchOnWindowFocus: false,
  });
  const pages = query.data?.pages ?? NO_PAGES;
  return {
    rows: pages.flatMap((page) => [...rows(page)]),
    pages,
    first: pages[0],
    error: query.error,
    isLoading: query.isPending,
    isLoadingMore: query.isFetchingNextPage,
    hasMore: query.hasNextPage,
    loadMore: () => {
      if (query.hasNextPage && !query.isFetching) void query.fetchNextPage();
    },
    refresh: () => client.invalidateQueries({ queryKey }),
    restart: async () => {
      client.setQueryData<{ pages: unknown[]; pageParams: unknown[] }>(
        queryKey,
        (data) => data && { pages: data.pages.slice(0, 1), pageParams: data.pageParams.slice(0, 1) },
      );
      await client.invalidateQueries({ queryKey });
    },
  };
}
