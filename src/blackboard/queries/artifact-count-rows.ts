import { type ExpressionBuilder, type RawBuilder, sql } from 'kysely';

import { memoize, prepared } from '../../database/prepared.js';
import type { Schema } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';
import { type ArtifactFilter, asksForNothing, NO_FILTER } from './artifact-filter.js';
import type { KindCount } from './artifact-summary.js';
import { isOfKind } from './path-rows.js';
import { isIn, type Range, rolledUpTo } from './rollup-rows.js';

/** Counts the artifacts that match a filter on types, producers and visibility kinds. */
export async function totalByRollup(db: Reader, filter: ArtifactFilter): Promise<number> {
  const [counted] = asksForNothing({ ...filter, replays: true })
    ? await totalOfAll(filter.replays)(db, {})
    : await totalOf(db, filter).execute();
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

const totalOfAll = memoize((replays: boolean) =>
  prepared<object, { total: number }>((db) => totalOf(db, { ...NO_FILTER, replays })),
);

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
  rolledUp(db, 'artifact_counts', filter)
    .$if(filter.replays, (counts) => counts.unionAll(rolledUp(db, 'replay_counts', filter)))
    .unionAll(
      db
        .selectFrom('artifacts')
        .select(['type', 'produced_by', 'visibility_kind', sql.lit(1).as('count')])
        .select(['created_at as earliest_created_at', 'created_at as latest_created_at'])
        .where('seq', '>', rolledUpTo('artifacts'))
        .where(isOfKind(filter))
        .$if(!filter.replays, (later) => later.where('replay', '=', sql.lit(0))),
    );

const rolledUp = (db: Reader, table: CountsTable, filter: ArtifactFilter) =>
  db
    .selectFrom(table as 'artifact_counts')
    .select(['type', 'produced_by', 'visibility_kind', 'count', 'earliest_created_at', 'latest_created_at'])
    .where(isOfKind(filter));

/** Adds the artifacts between two positions to the counts. */
export async function addToCounts(tx: Transaction, range: Range): Promise<void> {
  await addTo('artifact_counts', tx, range);
  await addTo('replay_counts', tx, range);
}

type CountsTable = 'artifact_counts' | 'replay_counts';

async function addTo(table: CountsTable, { db }: Transaction, range: Range): Promise<void> {
  const current = (column: 'count' | TimeColumn) => sql.ref<number>(`${table}.${column}`);
  await db
    .insertInto(table as 'artifact_counts')
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
        .where('replay', '=', sql.lit(table === 'replay_counts' ? 1 : 0))
        .groupBy(['type', 'produced_by', 'visibility_kind']),
    )
    .onConflict((conflict) =>
      conflict.columns(['type', 'produced_by', 'visibility_kind']).doUpdateSet((eb) => ({
        count: eb(current('count'), '+', eb.ref('excluded.count')),
        earliest_created_at: extreme(eb, 'earliest_created_at', '<', current('earliest_created_at')),
        latest_created_at: extreme(eb, 'latest_created_at', '>', current('latest_created_at')),
      })),
    )
    .execute();
}

type TimeColumn = 'earliest_created_at' | 'latest_created_at';

type Upsert = Schema & { excluded: Schema['artifact_counts'] };

/** Postgres and SQLite have different names for least() and greatest(), so this is a CASE. */
const extreme = (
  eb: ExpressionBuilder<Upsert, 'artifact_counts' | 'excluded'>,
  column: TimeColumn,
  comparison: '<' | '>',
  current: RawBuilder<number>,
) =>
  eb
    .case()
    .when(`excluded.${column}`, comparison, current)
    .then(eb.ref(`excluded.${column}`))
    .else(current)
    .end();
