import { type AliasedExpression, expressionBuilder } from 'kysely';

import { yieldToEventLoop } from '../../common/event-loop.js';
import { dialectOf } from '../../database/dialects/dialect.js';
import type { Schema } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import { type ArtifactFilter, matches } from './artifact-filter.js';

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

/**
 * The steps of a path within a window, as `step.seq` and `step.key`. The query has no other condition, so that the
 * planner, which has no statistics on SQLite, must use the path's own index.
 */
export function along(db: Reader, path: Path, { low, high }: Window) {
  const steps = db.selectFrom(stepsOf(path)).where('step.key', '>', low).where('step.key', '<=', high);
  return path.by === 'all' || path.by === 'time' ? steps : steps.where('step.value', '=', path.value);
}

interface Step {
  seq: number;
  key: number;
  value: string;
}

function stepsOf(path: Path): AliasedExpression<Step, 'step'> {
  const eb = expressionBuilder<Schema, never>();
  switch (path.by) {
    case 'tag':
      return eb
        .selectFrom('artifact_tags')
        .select(['artifact_seq as seq', 'artifact_seq as key', 'tag as value'])
        .as('step');
    case 'consumer':
      return eb
        .selectFrom('consumptions')
        .select(['artifact_seq as seq', 'artifact_seq as key', 'consumer as value'])
        .as('step');
    case 'time':
      return eb.selectFrom('artifacts').select(['seq', 'created_at as key', 'id as value']).as('step');
    case 'all':
      return eb.selectFrom('artifacts').select(['seq', 'seq as key', 'id as value']).as('step');
    default:
      return eb
        .selectFrom('artifacts')
        .select(['seq', 'seq as key', `${path.by} as value`])
        .as('step');
  }
}

/** The part of a path in which artifacts can match: a time path is limited to its range. */
export function spanOf(path: Path): Window {
  if (path.by !== 'time') return EVERYTHING;
  return { low: path.from === null ? FIRST : path.from - 1, high: path.to ?? LAST };
}

/**
 * The positions as `steps.seq`, materialised, so that the planner cannot start with an index of a table that is joined
 * to them.
 */
export const stepsAlong = (db: Reader, path: Path, window: Window) =>
  db
    .with(
      (cte) => cte('steps').materialized(),
      // An agent can consume an artifact twice, in two executions.
      () =>
        along(db, path, window)
          .select('step.seq')
          .$if(path.by === 'consumer', (steps) => steps.distinct()),
    )
    .selectFrom('steps');

/** The artifacts on a path and in a window that match a filter. Columns of `artifacts` can be selected from it. */
export const matchingAlong = (db: Reader, path: Path, window: Window, filter: ArtifactFilter) =>
  artifactsOf(db, stepsAlong(db, path, window)).where(matches(filter));

type Steps = ReturnType<typeof stepsAlong>;

const joined = (steps: Steps) => steps.crossJoin('artifacts').whereRef('artifacts.seq', '=', 'steps.seq');

// SQLite joins in the order of the query. Postgres uses statistics: for a sorted page it would scan all artifacts and
// look up each among the steps. The lateral join prevents that.
const artifactsOf = (db: Reader, steps: Steps): ReturnType<typeof joined> =>
  dialectOf(db).joinsAsWritten ? joined(steps) : (joinedOneByOne(steps) as unknown as ReturnType<typeof joined>);

const joinedOneByOne = (steps: Steps) =>
  steps.innerJoinLateral(
    ({ selectFrom }) =>
      selectFrom('artifacts as stored')
        .selectAll('stored')
        .whereRef('stored.seq', '=', 'steps.seq')
        .offset(0)
        .as('artifacts'),
    (join) => join.onTrue(),
  );

/**
 * Divides a path into windows of about `size` steps, so that no query blocks the process for long. With `desc` the
 * windows start at the end.
 */
export async function* windows(
  db: Reader,
  path: Path,
  span: Window,
  size: number,
  order: 'asc' | 'desc' = 'asc',
): AsyncGenerator<Window> {
  let rest = span;
  for (;;) {
    const edge = await along(db, path, rest)
      .select('step.key')
      .orderBy('step.key', order)
      .limit(1)
      .offset(size - 1)
      .executeTakeFirst();
    if (!edge) break;
    const cut = order === 'asc' ? edge.key : edge.key - 1;
    yield order === 'asc' ? { low: rest.low, high: cut } : { low: cut, high: rest.high };
    rest = order === 'asc' ? { low: cut, high: rest.high } : { low: rest.low, high: cut };
    await yieldToEventLoop();
  }
  yield rest;
}
