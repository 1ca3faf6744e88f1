/** The parts of an OpenAPI document that name the requests. */
export interface OpenApi {
  paths: Record<string, Record<string, { parameters?: { in: string; name: string }[] }>>;
}

/** Returns those of these requests that the document does not have, with the parameters of the query that it lacks. */
export function undocumented({ paths }: OpenApi, requests: readonly { method: string; url: string }[]): string[] {
  // A path without parameters comes before one that its last part would match as an id.
  const routes = Object.entries(paths)
    .sort(([one], [other]) => one.split('{').length - other.split('{').length)
    .map(([path, operations]) => ({ operations, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`) }));
  return requests.flatMap(({ method, url }) => {
    const { pathname, searchParams } = new URL(url);
    const route = routes.find(
      ({ pattern, operations }) => pattern.test(pathname) && method.toLowerCase() in operations,
    );
    if (route === undefined) return [`${method} ${pathname}`];
    const named = route.operations[method.toLowerCase()]!.parameters ?? [];
    const known = new Set(named.filter((parameter) => parameter.in === 'query').map(({ name }) => name));
    return [...searchParams.keys()].filter((key) => !known.has(key)).map((key) => `${method} ${pathname}?${key}`);
  });
}
