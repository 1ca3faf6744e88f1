import {
  type InfiniteData,
  infiniteQueryOptions,
  keepPreviousData,
  type Query,
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
import { type Answer, get, type GetParams, type GetPath, type GetQuery, type Schemas } from './requests';

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

/** For `meta` of a query whose answer follows from live events. */
export const LIVE = { isLive: true };

/** Whether live events change the answer. One that is not shown now may be shown again by a part that follows them. */
export const isLive = ({ observers }: Query): boolean =>
  observers.length === 0 || observers.some(({ options }) => options.meta === LIVE);

/**
 * Call this after live events. The views that are shown decide themselves when to ask again; a view that is left and opened
 * again asks immediately. Within `staleTime` it would otherwise show what was true before the events.
 */
export function outdateAnswers(): void {
  // An answer that is on its way, and that no view follows, may be older than the events.
  void queryClient.cancelQueries({ type: 'inactive' });
  void queryClient.invalidateQueries({ refetchType: 'none' });
}

/** Whether a live event may change the answer. */
export type Concerns = (event: LiveEvent) => boolean;

export interface ApiOptions<P extends GetPath> {
  /** The answer is fetched again after such events. Without it, only after the connection was interrupted. */
  live?: Concerns;
  /** The least time between two fetches that live events cause. */
  everyMs?: number;
  /** Also asks again after this time, for what changes without an event. False does not. */
  pollMs?: number | ((answer: Answer<P> | undefined) => number | false);
  enabled?: boolean;
}

/** Asks the API, keeps the answer, and asks again when live events concern it. */
export function useApi<P extends GetPath>(
  path: P,
  params?: GetParams<P>,
  { live, everyMs, pollMs, enabled = true }: ApiOptions<P> = {},
): UseQueryResult<Answer<P>> {
  const queryKey = [path, params];
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => get(path, params, signal),
    enabled,
    meta: live && LIVE,
    refetchInterval: typeof pollMs === 'function' ? ({ state }) => pollMs(state.data) : pollMs,
  });
  const client = useQueryClient();
  useLiveRefresh(() => void client.invalidateQueries({ queryKey }), enabled ? live : undefined, everyMs);
  return query as UseQueryResult<Answer<P>>;
}

export interface PagesOptions<P extends GetPath, Row> {
  rows: (page: Answer<P>) => readonly Row[];
  /** The parameters that ask for the page after this one; undefined after the last page. */
  next: (page: Answer<P>, pages: Answer<P>[]) => Partial<GetQuery<P>> | undefined;
  /** Whether a refresh leaves out this page, because it is known not to have changed. */
  isKept?: (page: Answer<P>) => boolean;
  /** Also reads the list again after this time, for what changes without an event. */
  pollMs?: number;
}

/** The rows of a list as far as they are read. */
export interface Rows<Row> {
  rows: readonly Row[];
  error: Error | null;
  isLoading: boolean;
  isLoadingMore: boolean;
  hasMore: boolean;
  loadMore: () => void;
  /** Reads the list again from its first row. */
  restart: () => Promise<void>;
}

export interface Pages<P extends GetPath, Row> extends Rows<Row> {
  rows: Row[];
  /** The answers themselves, the same array until one of them changes. */
  pages: readonly Answer<P>[];
  first: Answer<P> | undefined;
  /** Fetches all pages again that were read, except those that `isKept` keeps. */
  refresh: () => Promise<void>;
}

/** `next` of `usePages` for lists whose pages have a cursor. */
export const nextByCursor = ({ pagination: { next } }: { pagination: Schemas['NextPageBody'] }) =>
  next === null ? undefined : { after: next };

/** `next` of `usePages` for lists whose pages have an offset. */
export const nextByOffset = ({ pagination: { has_more, offset, limit } }: { pagination: Schemas['PageBody'] }) =>
  has_more ? { offset: offset + limit } : undefined;

const NO_PAGES: never[] = [];

/** Whether `usePages` with these arguments has pages that were read before. */
export const hasPages = <P extends GetPath>(path: P, params: GetParams<P>): boolean =>
  queryClient.getQueryData([path, params, 'pages']) !== undefined;

/** Asks for the first page of a list, which `usePages` with the same arguments will show. */
export const prefetchPages = <P extends GetPath, Row>(
  path: P,
  params: GetParams<P>,
  options: PagesOptions<P, Row>,
): Promise<void> => queryClient.prefetchInfiniteQuery(pagesQuery(path, params, options));

const pagesQuery = <P extends GetPath, Row>(
  path: P,
  params: GetParams<P>,
  { next, isKept, pollMs }: PagesOptions<P, Row>,
) =>
  infiniteQueryOptions({
    queryKey: [path, params, 'pages'] as QueryKey,
    queryFn: ({ pageParam, signal, client, queryKey }) => {
      const read = client.getQueryData<InfiniteData<Answer<P>>>(queryKey);
      const place = JSON.stringify(pageParam);
      const known = read?.pages[read.pageParams.findIndex((param) => JSON.stringify(param) === place)];
      if (known !== undefined && isKept?.(known)) return known;
      const { query: filters } = params as { query?: object };
      return get(path, { ...params, query: { ...filters, ...pageParam } } as GetParams<P>, signal);
    },
    initialPageParam: {} as object,
    getNextPageParam: (page: Answer<P>, pages: Answer<P>[]) => next(page, pages),
    refetchInterval: pollMs,
  });

/** Reads a list page by page, as far as it is scrolled. */
export function usePages<P extends GetPath, Row>(
  path: P,
  params: GetParams<P>,
  options: PagesOptions<P, Row>,
): Pages<P, Row> {
  const client = useQueryClient();
  const { rows } = options;
  // Every page that was read would be read again.
  const query = useInfiniteQuery({ ...pagesQuery(path, params, options), refetchOnWindowFocus: false });
  const queryKey: QueryKey = [path, params, 'pages'];
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
