import type { Server } from './server.js';
import { inTypedOptions } from './typed-options.js';

/** The largest page of most lists of the API. */
const LARGEST_PAGE = 500;

/**
 * The end of a page. The API has three forms: a cursor `next`, a count `total` with the last id as cursor, and an
 * `offset`.
 */
interface Pagination {
  next?: string | null;
  total?: number;
  has_more?: boolean;
}

export interface Page<T> {
  items: T[];
  hasMore: boolean;
}

/** Yields the pages of a list of the API until `limit` items are read. */
export async function* pagesOf<T extends object>(
  server: Server,
  path: string,
  query: URLSearchParams,
  limit: number,
  largestPage = LARGEST_PAGE,
): AsyncGenerator<Page<T>> {
  const asked = new URLSearchParams(query);
  let [read, hasMore] = [0, true];
  while (read < limit && hasMore) {
    asked.set('limit', String(Math.min(limit - read, largestPage)));
    const { items, pagination } = await server
      .get<{ items: T[]; pagination: Pagination }>(`${path}?${asked}`)
      .catch((error: unknown) => Promise.reject(inTypedOptions(error, [...asked.keys()])));
    read += items.length;
    hasMore = pagination.has_more ?? (items.length > 0 && read < pagination.total!);
    if (pagination.next) asked.set('after', pagination.next);
    else if (pagination.total === undefined) asked.set('offset', String(read));
    else if (hasMore) asked.set('after', (items.at(-1) as { id: string }).id);
    yield { items, hasMore };
  }
}

/** The query for the options of a command: `{ producedBy: ['a', 'b'] }` becomes `produced_by=a&produced_by=b`. */
export function queryOf(options: Record<string, unknown>): URLSearchParams {
  return new URLSearchParams(
    Object.entries(options).flatMap(([name, value]) =>
      value === undefined ? [] : [value].flat().map((one): [string, string] => [snakeCase(name), String(one)]),
    ),
  );
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
