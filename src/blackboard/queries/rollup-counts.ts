import { sql } from 'kysely';

import { prepared } from '../../database/prepared.js';
import type { Reader } from '../../database/unit-of-work.js';
import { type ArtifactFilter, asksForNothing, isOfKind, NO_FILTER } from './artifact-filter.js';
import type { KindCount } from './artifact-summary.js';
import { rolledUpTo } from './rollup-position.js';

/** Counts the artifacts that match a filter on types, producers and visibility kinds. */
export async function totalByRollup(db: Reader, filter: ArtifactFilter): Promise<number> {
  const [counted] = asksForNothing(filter) ? await totalOfAll(db, {}) : await totalOf(db, filter).execute();
  return counted!.total;
}

/** One statement, so that an artifact that is being deleted counts once. */
export async function everPublished(db: Reader): Promise<number> {
  const [counted] = await totalEver(db, {});
  return counted!.total;
}

const totalEver = prepared<object, { total: number }>((db) =>
  db.selectFrom(totalOf(db, NO_FILTER).as('present')).select((eb) => {
    const deleted = eb
      .selectFrom('artifact_deletions')
      .select((inner) => inner.fn.coalesce(inner.fn.sum<number>('artifact_deletions.count'), sql.lit(0)).as('count'));
    return eb('present.total', '+', deleted).as('total');
  }),
);

const totalOf = (db: Reader, filter: ArtifactFilter) =>
  db
    .selectFrom(rollupsAndLater(db, filter).as('counts'))
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('counts.count'), sql.lit(0)).as('total'));

const totalOfAll = prepared<object, { total: number }>((db) => totalOf(db, NO_FILTER));

export const kindsByRollup = (db: Reader, filter: ArtifactFilter): Promise<KindCount[]> =>
  db
    .selectFrom(rollupsAndLater(db, filter).as('counts'))
    .select(['counts.type', 'counts.produced_by', 'counts.visibility_kind'])
    .select((eb) => [
      eb.fn.sum<number>('counts.count').as('count'),
      eb.fn.min<number>('counts.earliest_created_at').as('earliest_created_at'),
      eb.fn.max<number>('counts.latest_created_at').as('latest_created_at'),
    ])
    .groupBy(['counts.type', 'counts.produced_by', 'counts.visibility_kind'])
    .execute();

/** One statement reads both tables, so that a rollup between two reads cannot count a row twice or miss it. */
const rollupsAndLater = (db: Reader, filter: ArtifactFilter) =>
  db
    .selectFrom('artifact_counts')
    .select(['type', 'produced_by', 'visibility_kind', 'count', 'earliest_created_at', 'latest_created_at'])
    .where(isOfKind(filter))
    .unionAll(
      db
        .selectFrom('artifacts')
        .select(['type', 'produced_by', 'visibility_kind', sql.lit(1).as('count')])
        .select(['created_at as earliest_created_at', 'created_at as latest_created_at'])
        .where('seq', '>', rolledUpTo('artifacts'))
        .where(isOfKind(filter)),
    );
