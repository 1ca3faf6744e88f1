import { type AliasableExpression, type Kysely, sql } from 'kysely';

import type { CorrelationState, CorrelationTermKind, Schema } from '../../database/schema.js';
import type { Place, Reached, Term } from './correlation-filter.js';

type Found = AliasableExpression<Place>;

/**
 * Returns queries that together find the correlations with a term; more than one may find the same correlation. The first
 * reads an index that is sorted like lists. The other reads the few rows after the position that the rollup of terms
 * has reached.
 */
export function withTerm(db: Kysely<Schema>, { kind, value }: Term, reached: Reached): Found[] {
  switch (kind) {
    case 'state':
      return [inState(db, value)];
    case 'agent':
      return [rolledUp(db, kind, value), withExecutionAfter(db, reached.executions, value)];
    case 'type':
      return [rolledUp(db, kind, value), withArtifactAfter(db, reached.artifacts, value)];
    case 'tag':
      return [rolledUp(db, kind, value), withTagAfter(db, reached.artifacts, value)];
  }
}

const inState = (db: Kysely<Schema>, state: CorrelationState): Found =>
  db.selectFrom('correlations').select(['seq', 'started_at']).where('state', '=', state);

const rolledUp = (db: Kysely<Schema>, kind: CorrelationTermKind, value: string): Found =>
  db
    .selectFrom('correlation_terms')
    .select(['correlation_seq as seq', 'started_at'])
    .where('kind', '=', kind)
    .where('value', '=', value);

const withArtifactAfter = (db: Kysely<Schema>, position: number, type: string): Found =>
  db
    .selectFrom('artifacts')
    .innerJoin('correlations', 'correlations.id', 'artifacts.correlation_id')
    .select(['correlations.seq', 'correlations.started_at'])
    .distinct()
    .where('artifacts.seq', '>', position)
    .where(hidden('artifacts.type'), '=', type);

const withTagAfter = (db: Kysely<Schema>, position: number, tag: string): Found =>
  db
    .selectFrom('artifacts')
    .innerJoin('artifact_tags', 'artifact_tags.artifact_seq', 'artifacts.seq')
    .innerJoin('correlations', 'correlations.id', 'artifacts.correlation_id')
    .select(['correlations.seq', 'correlations.started_at'])
    .distinct()
    .where('artifact_tags.artifact_seq', '>', position)
    .where('artifact_tags.tag', '=', tag);

const withExecutionAfter = (db: Kysely<Schema>, position: number, agent: string): Found =>
  db
    .selectFrom('executions')
    .innerJoin('correlations', 'correlations.id', 'executions.correlation_id')
    .select(['correlations.seq', 'correlations.started_at'])
    .distinct()
    .where('executions.seq', '>', position)
    .where(hidden('executions.agent'), '=', agent);

/** A column whose indexes must not be used, because they find far more rows than the position does. */
const hidden = (column: string) => sql<string>`coalesce(${sql.ref(column)}, '')`;
