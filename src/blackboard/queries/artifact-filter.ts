import { type Expression, type SqlBool, expressionBuilder } from 'kysely';
import type { Schema } from '../../database/schema.js';

/** Which artifacts a query asks for. Every part holds; an empty list and null ask for nothing. */
export interface ArtifactFilter {
  /** Any of. */
  types: readonly string[];
  /** Any of. */
  producers: readonly string[];
  /** Any of. */
  visibilityKinds: readonly string[];
  correlationId: string | null;
  /** All of. */
  tags: readonly string[];
  /** Epoch ms, inclusive. */
  from: number | null;
  /** Epoch ms, inclusive. */
  to: number | null;
}

export const NO_FILTER: ArtifactFilter = {
  types: [],
  producers: [],
  visibilityKinds: [],
  correlationId: null,
  tags: [],
  from: null,
  to: null,
};

/** True where nothing but types, producers and visibility kinds is asked for: what `artifact_counts` can answer. */
export const asksForKindOnly = (filter: ArtifactFilter): boolean =>
  filter.correlationId === null && filter.tags.length === 0 && filter.from === null && filter.to === null;

export const asksForNothing = (filter: ArtifactFilter): boolean =>
  asksForKindOnly(filter) && filter.types.length === 0 && filter.producers.length === 0 && filter.visibilityKinds.length === 0;

/** Types, producers and visibility kinds, as a condition on `artifacts` and on `artifact_counts` alike. */
export function isOfKind(filter: ArtifactFilter): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'artifact_counts'>();
  const conditions: Expression<SqlBool>[] = [];
  if (filter.types.length > 0) conditions.push(eb('type', 'in', filter.types));
  if (filter.producers.length > 0) conditions.push(eb('produced_by', 'in', filter.producers));
  if (filter.visibilityKinds.length > 0) conditions.push(eb('visibility_kind', 'in', filter.visibilityKinds));
  return eb.and(conditions);
}

/** The whole filter, as a condition on `artifacts`. */
export function matches(filter: ArtifactFilter): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'artifacts'>();
  const conditions = [isOfKind(filter)];
  if (filter.correlationId !== null) conditions.push(eb('artifacts.correlation_id', '=', filter.correlationId));
  if (filter.from !== null) conditions.push(eb('artifacts.created_at', '>=', filter.from));
  if (filter.to !== null) conditions.push(eb('artifacts.created_at', '<=', filter.to));
  if (filter.tags.length > 0) conditions.push(hasAllTags([...new Set(filter.tags)]));
  return eb.and(conditions);
}

// One subquery that is asked of each artifact, and a value: Postgres plans a condition for each tag as a join, and the time for that
// grows with the number of orders in which they can be made.
function hasAllTags(tags: readonly string[]): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'artifacts'>();
  const found = eb
    .selectFrom('artifact_tags')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('artifact_tags.tag', 'in', tags)
    .whereRef('artifact_tags.artifact_seq', '=', 'artifacts.seq');
  return eb(found, '=', tags.length);
}
