import { type Expression, expressionBuilder, type SqlBool } from 'kysely';

import type { Schema } from '../../database/schema.js';

/** The conditions of a query for artifacts. All must hold. An empty list or null sets no condition. */
export interface ArtifactFilter {
  /** Matches any of these. */
  types: readonly string[];
  /** Matches any of these. */
  producers: readonly string[];
  /** Matches any of these. */
  visibilityKinds: readonly string[];
  correlationId: string | null;
  /** Matches only artifacts with all of these. */
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

/**
 * True if the filter has conditions only on types, producers and visibility kinds, which `artifact_counts` can answer.
 */
export const asksForKindOnly = (filter: ArtifactFilter): boolean =>
  filter.correlationId === null && filter.tags.length === 0 && filter.from === null && filter.to === null;

export const asksForNothing = (filter: ArtifactFilter): boolean =>
  asksForKindOnly(filter) &&
  filter.types.length === 0 &&
  filter.producers.length === 0 &&
  filter.visibilityKinds.length === 0;

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
export function matches(filter: ArtifactFilter): Expression<SqlBool> {
  const eb = expressionBuilder<Schema, 'artifacts'>();
  const conditions = [isOfKind(filter)];
  if (filter.correlationId !== null) conditions.push(eb('artifacts.correlation_id', '=', filter.correlationId));
  if (filter.from !== null) conditions.push(eb('artifacts.created_at', '>=', filter.from));
  if (filter.to !== null) conditions.push(eb('artifacts.created_at', '<=', filter.to));
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
