import { useNavigate, useSearch } from '@tanstack/react-router';

import type { Search } from './search';

type Reader<T> = (value: Search[string]) => T;
type Values<S extends Record<string, Reader<unknown>>> = { [K in keyof S]: ReturnType<S[K]> };

/** One text; empty if the URL has none. */
export const text: Reader<string> = (value) => [value ?? ''].flat()[0] as string;

/** Several texts. */
export const list: Reader<string[]> = (value) => [...([value ?? []].flat() as string[])];

/** The words that the URL has, in this order. */
export const choices =
  <T extends string>(...words: T[]): Reader<T[]> =>
  (value) => {
    const given = list(value);
    return words.filter((word) => given.includes(word));
  };

/** One of these words; the first one if the URL has another or none. */
export const choice =
  <T extends string>(...words: [T, ...T[]]): Reader<T> =>
  (value) =>
    words.find((word) => word === text(value)) ?? words[0];

export interface Filters<T> {
  value: T;
  /** Whether the URL sets any of them. */
  isAny: boolean;
  set: (change: Partial<T>) => void;
  /** Removes these filters, and leaves the rest of the URL. */
  clear: () => void;
}

/** The filters that the search of a URL sets. */
export const filtersIn = <S extends Record<string, Reader<unknown>>>(readers: S, search: Search): Values<S> =>
  Object.fromEntries(Object.entries(readers).map(([key, read]) => [key, read(search[key])])) as Values<S>;

/**
 * The filters of a view, which its URL holds: `useFilters({ type: list, from: text, order: choice('desc', 'asc') })`. A
 * change replaces the entry of the browser's history.
 */
export function useFilters<S extends Record<string, Reader<unknown>>>(readers: S): Filters<Values<S>> {
  const search = useSearch({ strict: false }) as Search;
  const navigate = useNavigate();
  // The URL may have changed since this was drawn.
  const go = (change: (now: Search) => Search): void =>
    void navigate({ to: '.', search: change as never, replace: true });
  return {
    value: filtersIn(readers, search),
    isAny: Object.keys(readers).some((key) => search[key] !== undefined),
    set: (change) => go((now) => ({ ...now, ...(change as Search) })),
    clear: () => go((now) => Object.fromEntries(Object.entries(now).filter(([key]) => !(key in readers)))),
  };
}
