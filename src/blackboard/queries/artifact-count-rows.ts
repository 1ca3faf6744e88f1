import { type ExpressionBuilder, sql } from 'kysely';

import { prepared } from '../../database/prepared.js';
import type { Schema } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { type ArtifactFilter, asksForNothing, NO_FILTER } from './artifact-filter.js';
import type { KindCount } from './artifact-summary.js';
import { isOfKind } from './path-rows.js';
import { isIn, type Range, rolledUpTo } from './rollup-rows.js';

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

/** Adds the artifacts between two positions to the counts. */
export async function addToCounts({ db }: Transaction, range: Range): Promise<void> {
  await db
    .insertInto('artifact_counts')
    .columns(['type', 'produced_by', 'visibility_kind', 'count', 'earliest_created_at', 'latest_created_at'])
    .expression((eb) =>
      eb
        .selectFrom('artifacts')
        .select(['type', 'produced_by', 'visibility_kind'])
        .select((row) => [
          row.fn.countAll<number>().as('count'),
          row.fn.min('created_at').as('earliest_created_at'),
          row.fn.max('created_at').as('latest_created_at'),
        ])
        .where(isIn(range))
        .groupBy(['type', 'produced_by', 'visibility_kind']),
    )
    .onConflict((conflict) =>
      conflict.columns(['type', 'produced_by', 'visibility_kind']).doUpdateSet((eb) => ({
        count: eb('artifact_counts.count', '+', eb.ref('excluded.count')),
        earliest_created_at: extreme(eb, 'earliest_created_at', '<'),
        latest_created_at: extreme(eb, 'latest_created_at', '>'),
      })),
    )
    .execute();
}

type Upsert = Schema & { excluded: Schema['artifact_counts'] };

/** Postgres and SQLite have different names for least() and greatest(), so this is a CASE. */
const extreme = (
  eb: ExpressionBuilder<Upsert, 'artifact_counts' | 'excluded'>,
  column: 'earliest_created_at' | 'latest_created_at',
  comparison: '<' | '>',
) =>
  eb
    .case()
    .when(`excluded.${column}`, comparison, eb.ref(`artifact_counts.${column}`))
    .then(eb.ref(`excluded.${column}`))
    .else(eb.ref(`artifact_counts.${column}`))
    .end();
