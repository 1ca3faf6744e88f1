import { type AliasableExpression, type Kysely, sql } from 'kysely';

import { type Place, prepared } from '../../database/prepared.js';
import type { CorrelationTermKind, Schema } from '../../database/schema.js';
import { STEP } from './rollup.js';
import type { Range } from './rollup-rows.js';

/** A query for terms, each with the id of its correlation. */
type Terms = AliasableExpression<{ value: string; correlation_id: string }>;

/** Makes a statement that adds the terms of the rows in a range to `correlation_terms`. */
const adding = (kind: CorrelationTermKind, termsIn: (db: Kysely<Schema>, place: Place<Range>) => Terms) =>
  prepared<Range, unknown>((db, place) =>
    db
      .insertInto('correlation_terms')
      .columns(['kind', 'value', 'started_at', 'correlation_seq', 'unlisted'])
      .expression(
        db
          .selectFrom(termsIn(db, place).as('terms'))
          .innerJoin('correlations', 'correlations.id', 'terms.correlation_id')
          .select([sql.lit(kind).as('kind'), 'terms.value', 'correlations.started_at', 'correlations.seq'])
          // The rows of correlations list only terms of earlier versions.
          .select(sql.lit(1).as('unlisted'))
          // SQLite needs a condition between a join and `on conflict`.
          .where(sql<boolean>`true`)
          .distinct(),
      )
      .onConflict((conflict) => conflict.doNothing()),
  );

/** Adds the types of the artifacts in a range. */
export const addTypes = adding('type', (db, place) =>
  db.selectFrom(artifactsIn(db, place).as('artifacts')).select(['type as value', 'correlation_id']),
);

/** Adds the tags of the artifacts in a range. */
export const addTags = adding('tag', (db, place) =>
  db
    .selectFrom(artifactsIn(db, place).as('artifacts'))
    .innerJoin('artifact_tags', 'artifact_tags.artifact_seq', 'artifacts.seq')
    .select(['artifact_tags.tag as value', 'artifacts.correlation_id'])
    // Most artifacts have none, and need no search for them.
    .where('artifacts.tags', '<>', sql.lit('[]')),
);

/** Adds the agents of the executions in a range. */
export const addAgents = adding('agent', (db, place) =>
  db
    .selectFrom('executions')
    .select(['agent as value', 'correlation_id'])
    .where('seq', '>', place('from'))
    .where('seq', '<=', place('to'))
    .limit(sql.lit(STEP)),
);

// A range has at most as many rows as the limit. With it, Postgres' planner knows that they are few, and finds their
// correlations by the index.
const artifactsIn = (db: Kysely<Schema>, place: Place<Range>) =>
  db
    .selectFrom('artifacts')
    .select(['seq', 'type', 'tags', 'correlation_id'])
    .where('seq', '>', place('from'))
    .where('seq', '<=', place('to'))
    .limit(sql.lit(STEP));
