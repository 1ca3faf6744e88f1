import type { ArtifactFilter } from './artifact-filter.js';

/**
 * One condition whose artifacts an index returns sorted by a key: by `created_at` for a time range, otherwise by `seq`.
 */
export type Path =
  OrderedPath | { by: 'consumer'; value: string } | { by: 'time'; from: number | null; to: number | null };

/** A path that has each artifact once, sorted by `seq`. */
export type OrderedPath =
  { by: 'all' } | { by: 'type' | 'produced_by' | 'visibility_kind' | 'correlation_id' | 'tag'; value: string };

/** Keys above `low`, up to and including `high`. */
export interface Window {
  low: number;
  high: number;
}

/** Finds everything that a filter matches, along one of its conditions. */
export interface Route {
  /** One path for each value of the condition. No artifact lies on two of them. */
  paths: readonly Path[];
  /** The conditions that the artifacts on the paths must still meet. */
  rest: ArtifactFilter;
}

const FIRST = Number.MIN_SAFE_INTEGER;
const LAST = Number.MAX_SAFE_INTEGER;
export const EVERYTHING: Window = { low: FIRST, high: LAST };

const inTime = (from: number | null, to: number | null): Path => ({ by: 'time', from, to });

/** The routes of a filter: one for each of its conditions, or one along all artifacts if it has none. */
export function routesOf(filter: ArtifactFilter): Route[] {
  const { types, producers, visibilityKinds, correlationId, tags, from, to } = filter;
  const routes: Route[] = [
    { paths: valuesOf('type', types), rest: { ...filter, types: [] } },
    { paths: valuesOf('produced_by', producers), rest: { ...filter, producers: [] } },
    { paths: valuesOf('visibility_kind', visibilityKinds), rest: { ...filter, visibilityKinds: [] } },
    {
      paths: valuesOf('correlation_id', correlationId === null ? [] : [correlationId]),
      rest: { ...filter, correlationId: null },
    },
    { paths: from === null && to === null ? [] : [inTime(from, to)], rest: { ...filter, from: null, to: null } },
    ...tags.map((tag) => ({
      paths: valuesOf('tag', [tag]),
      rest: { ...filter, tags: tags.filter((other) => other !== tag) },
    })),
  ].filter(({ paths }) => paths.length > 0);
  return routes.length > 0 ? routes : [{ paths: [{ by: 'all' }], rest: filter }];
}

const valuesOf = (by: Exclude<Path['by'], 'all' | 'time'>, values: readonly string[]): Path[] =>
  [...new Set(values)].map((value) => ({ by, value }));

export const isOrdered = (path: Path): path is OrderedPath => path.by !== 'time' && path.by !== 'consumer';

/** The part of a path in which artifacts can match: a time path is limited to its range. */
export function spanOf(path: Path): Window {
  if (path.by !== 'time') return EVERYTHING;
  return { low: path.from === null ? FIRST : path.from - 1, high: path.to ?? LAST };
}
