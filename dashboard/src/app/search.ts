/** The query of a view's URL. A list has its key once for each value, as in the API. */
export type Search = Record<string, string | readonly string[] | undefined>;

export function parseSearch(text: string): Search {
  const search: Record<string, string | string[]> = {};
  for (const [key, value] of new URLSearchParams(text)) {
    const before = search[key];
    search[key] = before === undefined ? value : [...[before].flat(), value];
  }
  return search;
}

/** Leaves out what is empty, so that a view without filters has a URL without a query. */
export function stringifySearch(search: Search): string {
  const query = new URLSearchParams();
  for (const [key, value] of Object.entries(search)) {
    for (const one of [value ?? []].flat() as string[]) if (one !== '') query.append(key, one);
  }
  return query.size > 0 ? `?${query}` : '';
}
