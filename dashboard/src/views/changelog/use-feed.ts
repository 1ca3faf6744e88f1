import { type RefObject, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';

import type { Rows } from '../../api/queries';
import { announce } from '../../components/announcer';
import { isUntouched } from '../../components/use-news';
import { useLiveEvents, useLiveState } from '../../live/use-live';
import { Feed, type FeedState } from './feed';
import type { FeedFilter, Row } from './rows';

export interface UsedFeed extends FeedState, Rows<Row> {
  release: () => void;
}

/** The rows for a filter, which follow what happens. `within` holds the list; while it is paused, no row appears. */
export function useFeed(filter: FeedFilter, within: RefObject<HTMLElement | null>, isPaused: boolean): UsedFeed {
  const key = JSON.stringify(filter);
  const feed = useMemo(() => new Feed(JSON.parse(key) as FeedFilter), [key]);
  const state = useSyncExternalStore(feed.subscribe, feed.snapshot);
  const isLive = filter.before === '';
  const connection = useLiveState().kind;
  const wasLive = useRef(connection === 'live');
  useEffect(() => {
    feed.mayMove = () => !isPaused && isUntouched(within.current);
  }, [feed, isPaused, within]);
  useEffect(() => {
    void feed.catchUp(false);
    return () => feed.stop();
  }, [feed]);
  useEffect(() => {
    if (connection === 'live') wasLive.current = true;
  }, [connection]);
  useLiveEvents((events, resync) => {
    if (!isLive) return;
    feed.receive(events);
    // The beginning of the first stream interrupts nothing.
    if (resync) void feed.catchUp(wasLive.current);
  });
  const { held } = state;
  useEffect(() => {
    if (held > 0 && !isPaused) announce(`${held} new`);
  }, [held, isPaused]);
  return {
    ...state,
    // The first pages may have no match.
    isLoading: state.isLoading || (state.rows.length === 0 && state.hasMore),
    release: () => feed.release(),
    loadMore: () => feed.loadOlder(),
    restart: () => feed.catchUp(false),
  };
}
