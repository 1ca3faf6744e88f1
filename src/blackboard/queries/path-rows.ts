import { type AliasedExpression, type Expression, expressionBuilder, type SqlBool } from 'kysely';

import { yieldToEventLoop } from '../../common/event-loop.js';
import { dialectOf } from '../../database/dialects/dialect.js';
import type { Schema } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import type { ArtifactFilter } from './artifact-filter.js';
import type { Path, Window } from './artifact-paths.js';
import type { KindCount } from './artifact-summary.js';

/** The part of the sorted positions that is wanted. */
interface Part {
  order: 'asc' | 'desc';
  limit: number;
  offset: number;
}

/** The condition on types, producers and visibility kinds. It applies to `artifacts` and `artifact_counts` alike. */
export function isOfKind(filter: ArtifactFilter): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'artifact_counts'>();
  const conditions: Expression<SqlBool>[] = [];
  if (filter.types.length > 0) conditions.push(eb('type', 'in', filter.types));
  if (filter.producers.length > 0) conditions.push(eb('produced_by', 'in', filter.producers));
  if (filter.visibilityKinds.length > 0) conditions.push(eb('visibility_kind', 'in', filter.visibilityKinds));
  return eb.and(conditions);
}

/** The whole filter, as a condition on `artifacts`. */
function matches(filter: ArtifactFilter): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'artifacts'>();
  const conditions = [isOfKind(filter)];
  if (filter.correlationId !== null) conditions.push(eb('artifacts.correlation_id', '=', filter.correlationId));
  if (filter.from !== null) conditions.push(eb('artifacts.created_at', '>=', filter.from));
  if (filter.to !== null) conditions.push(eb('artifacts.created_at', '<=', filter.to));
  if (!filter.replays) conditions.push(eb('artifacts.replay', '=', eb.lit(0)));
  if (filter.tags.length > 0) conditions.push(hasAllTags([...new Set(filter.tags)]));
  return eb.and(conditions);
}

// A single subquery counts the tags of each artifact. Postgres would plan one condition per tag as one join each, and
// its planning time grows with the number of possible join orders.
function hasAllTags(tags: readonly string[]): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'artifacts'>();
  const found = eb
    .selectFrom('artifact_tags')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('artifact_tags.tag', 'in', tags)
    .whereRef('artifact_tags.artifact_seq', '=', 'artifacts.seq');
  return eb(found, '=', tags.length);
}

/**
 * The steps of a path within a window, as `step.seq` and `step.key`. The query has no other condition, so that the
 * planner, which has no statistics on SQLite, must use the path's own index.
 */
function along(db: Reader, path: Path, { low, high }: Window) {
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

/**
 * The positions as `steps.seq`, materialised, so that the planner cannot start with an index of a table that is joined
 * to them.
 */
const stepsAlong = (db: Reader, path: Path, window: Window) =>
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

/** Takes the first positions of each path, and returns the wanted part of all of them. */
export async function findFirstPositions(
  db: Reader,
  paths: readonly Path[],
  window: Window,
  { order, limit, offset }: Part,
): Promise<number[]> {
  const [first, ...others] = paths.map((path) =>
    db
      .selectFrom(
        along(db, path, window)
          .select('step.seq')
          .orderBy('step.key', order)
          .limit(offset + limit)
          .as('part'),
      )
      .select('part.seq'),
  );
  const parts = others.reduce((all, part) => all.unionAll(part), first!);
  const rows = await parts.orderBy('seq', order).limit(limit).offset(offset).execute();
  return rows.map(({ seq }) => seq);
}

/** Finds the first positions within `span` that lie on a path and in a window and match a filter. Null matches all. */
export async function findMatchingPositions(
  db: Reader,
  path: Path,
  window: Window,
  filter: ArtifactFilter | null,
  { span, order, limit }: Omit<Part, 'offset'> & { span: Window },
): Promise<number[]> {
  const steps = filter === null ? stepsAlong(db, path, window) : matchingAlong(db, path, window, filter);
  const rows = await steps
    .select('steps.seq')
    .where('steps.seq', '>', span.low)
    .where('steps.seq', '<=', span.high)
    .orderBy('steps.seq', order)
    .limit(limit)
    .execute();
  return rows.map(({ seq }) => seq);
}

/** Counts the steps of a path in a window, up to `bound`. */
export async function countSteps(db: Reader, path: Path, window: Window, bound: number): Promise<number> {
  const { count } = await db
    .selectFrom(along(db, path, window).select('step.seq').limit(bound).as('steps'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

export async function countAllSteps(db: Reader, path: Path, window: Window): Promise<number> {
  const { count } = await along(db, path, window)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Counts the artifacts on a path and in a window that match a filter. */
export async function countMatching(db: Reader, path: Path, window: Window, filter: ArtifactFilter): Promise<number> {
  const { count } = await matchingAlong(db, path, window, filter)
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return count;
}

/** Counts the artifacts on a path and in a window that match a filter, by kind and, if wanted, by their lists of tags. */
export function countKinds(
  db: Reader,
  path: Path,
  window: Window,
  filter: ArtifactFilter,
  withTags: boolean,
): Promise<KindCount[]> {
  const kinds = matchingAlong(db, path, window, filter)
    .select(['type', 'produced_by', 'visibility_kind'])
    .select((eb) => [
      eb.fn.countAll<number>().as('count'),
      eb.fn.min('created_at').as('earliest_created_at'),
      eb.fn.max('created_at').as('latest_created_at'),
    ])
    .groupBy(['type', 'produced_by', 'visibility_kind']);
  // The artifacts' own lists are read: lookups in `artifact_tags` would double the time.
  return withTags ? kinds.select('tags').groupBy('tags').execute() : kinds.execute();
}
