import { type RefObject, useEffect, useRef, useState } from 'react';

import { type Pages, useApi } from '../api/queries';
import type { Answer, GetParams, GetPath } from '../api/requests';
import { isUntouched, type News } from './use-news';

const EVERY_MS = 3_000;

export interface FreshRowsOptions<P extends GetPath, Row> {
  pages: Pages<P, Row>;
  rows: (page: Answer<P>) => readonly Row[];
  keyOf: (row: Row) => string;
  /** The element that contains the list. */
  within: RefObject<HTMLElement | null>;
}

/**
 * Keeps a list up to date whose changes have no live events: asks for its first page again and again. Rows that are
 * shown change in place. New rows appear as `useNews` describes.
 */
export function useFreshRows<P extends GetPath, Row>(
  path: P,
  params: GetParams<P>,
  { pages, rows, keyOf, within }: FreshRowsOptions<P, Row>,
): { pages: Pages<P, Row>; news: News | undefined } {
  const { data, isPlaceholderData } = useApi(path, params, {
    live: ({ event_type }) => event_type === 'artifact_published',
    everyMs: EVERY_MS,
    pollMs: EVERY_MS,
    enabled: !pages.isLoading,
  });
  const newest = data === undefined || isPlaceholderData ? [] : rows(data);
  const current = new Map(newest.map((row) => [keyOf(row), row]));
  const known = new Set(pages.rows.map(keyOf));
  const fresh = newest.filter((row) => !known.has(keyOf(row))).length;
  const [count, setCount] = useState(0);
  const restart = useRef(pages.restart);
  useEffect(() => {
    restart.current = pages.restart;
  });
  useEffect(() => {
    if (fresh > 0 && isUntouched(within.current)) void restart.current();
    else setCount(fresh);
  }, [fresh, within]);
  return {
    pages: { ...pages, rows: pages.rows.map((row) => current.get(keyOf(row)) ?? row) },
    news: count === 0 ? undefined : { count, show: () => void pages.restart() },
  };
}
