import { sql } from 'kysely';

import { WORKFLOW_ERROR } from '../../catalog/definitions.js';
import { locking } from '../../database/dialects/dialect.js';
import { memoize, type Place, prepared, preparedWithList } from '../../database/prepared.js';
import type { ArtifactCountsTable } from '../../database/schema.js';
import type { Reader, Transaction } from '../../database/unit-of-work.js';

/** Artifacts with the same values in these columns are counted together. */
export type ArtifactKind = Pick<ArtifactCountsTable, 'type' | 'produced_by' | 'visibility_kind'>;

/** The tables of counts: of all artifacts but those of replays, and of these. Their index is the value of `replay`. */
export const COUNTS_TABLES = ['artifact_counts', 'replay_counts'] as const;

type CountsTable = (typeof COUNTS_TABLES)[number];

export interface DeletedArtifact {
  seq: number;
  correlation_id: string;
  replay: number;
}

/**
 * Subtracts deleted artifacts, all of one kind and rolled up, from the current counts and adds them to the deleted
 * counts. It runs in the transaction that deletes them, so that the sum of both never falls.
 */
export async function countDeleted(
  tx: Transaction,
  kind: ArtifactKind,
  deleted: readonly DeletedArtifact[],
): Promise<void> {
  const count = deleted.length;
  await addToDeletions(tx.db, { type: kind.type, up_to_seq: Math.max(...deleted.map(({ seq }) => seq)), count });
  await countInCorrelations(tx, kind, deleted);
  for (const [replay, { length }] of Map.groupBy(deleted, (artifact) => artifact.replay))
    await countInTable(tx, COUNTS_TABLES[replay]!, kind, length);
}

async function countInTable({ db }: Transaction, table: CountsTable, kind: ArtifactKind, count: number): Promise<void> {
  // The row is locked first, so that the queries for the earliest and latest time see what another process has added
  // meanwhile.
  await holdCounts(table)(db, kind);
  await takeFromCounts(table)(db, { ...kind, count });
  await removeEmptyCounts(table)(db, kind);
}

async function countInCorrelations(
  tx: Transaction,
  { type }: ArtifactKind,
  deleted: readonly DeletedArtifact[],
): Promise<void> {
  const byCorrelation = Map.groupBy(deleted, ({ correlation_id }) => correlation_id);
  // Most correlations lose the same number of artifacts: one, or what an agent publishes in one execution.
  for (const [count, same] of Map.groupBy(byCorrelation, ([, artifacts]) => artifacts.length)) {
    await addToCorrelations(
      tx.db,
      { count, errors: type === WORKFLOW_ERROR ? count : 0 },
      same.map(([id]) => id),
    );
  }
}

const addToDeletions = prepared<{ type: string; up_to_seq: number; count: number }, unknown>((db, place) =>
  db
    .insertInto('artifact_deletions')
    .values({ type: place('type'), up_to_seq: place('up_to_seq'), count: place('count') })
    .onConflict((conflict) =>
      conflict.column('type').doUpdateSet(({ eb, ref }) => ({
        count: eb('artifact_deletions.count', '+', ref('excluded.count')),
        up_to_seq: eb
          .case()
          .when('excluded.up_to_seq', '>', ref('artifact_deletions.up_to_seq'))
          .then(ref('excluded.up_to_seq'))
          .else(ref('artifact_deletions.up_to_seq'))
          .end(),
      })),
    ),
);

const addToCorrelations = preparedWithList<{ count: number; errors: number }, string, unknown>((db, place, ids) =>
  db
    .updateTable('correlations')
    .set(({ eb }) => ({
      deleted_artifacts: eb('deleted_artifacts', '+', place('count')),
      deleted_errors: eb('deleted_errors', '+', place('errors')),
    }))
    .where('id', 'in', ids),
);

const holdCounts = memoize((table: CountsTable) =>
  prepared<ArtifactKind, { count: number }>((db, place) =>
    locking(
      db,
      db
        .selectFrom(table as 'artifact_counts')
        .select('count')
        .where('type', '=', place('type'))
        .where('produced_by', '=', place('produced_by'))
        .where('visibility_kind', '=', place('visibility_kind')),
      { wait: true },
    ),
  ),
);

const takeFromCounts = memoize((table: CountsTable) =>
  prepared<ArtifactKind & { count: number }, unknown>((db, place) =>
    db
      .updateTable(table as 'artifact_counts')
      .set(({ eb, fn, ref }) => ({
        count: eb('count', '-', place('count')),
        // Each search starts from the previous time: otherwise Postgres scans all dead rows that some session may still
        // see.
        earliest_created_at: fn.coalesce(
          timeOf(db, place, table, 'asc').where('created_at', '>=', sql.ref<number>(`${table}.earliest_created_at`)),
          ref('earliest_created_at'),
        ),
        latest_created_at: fn.coalesce(
          timeOf(db, place, table, 'desc').where('created_at', '<=', sql.ref<number>(`${table}.latest_created_at`)),
          ref('latest_created_at'),
        ),
      }))
      .where('type', '=', place('type'))
      .where('produced_by', '=', place('produced_by'))
      .where('visibility_kind', '=', place('visibility_kind')),
  ),
);

const removeEmptyCounts = memoize((table: CountsTable) =>
  prepared<ArtifactKind, unknown>((db, place) =>
    db
      .deleteFrom(table as 'artifact_counts')
      .where('type', '=', place('type'))
      .where('produced_by', '=', place('produced_by'))
      .where('visibility_kind', '=', place('visibility_kind'))
      .where('count', '=', 0),
  ),
);

/**
 * The time of the first or the last artifact left of a kind. If none is left, it reads nothing: to find that, it would
 * read all artifacts of the kind that the other table counts.
 */
const timeOf = (
  db: Reader,
  place: Place<ArtifactKind & { count: number }>,
  table: CountsTable,
  order: 'asc' | 'desc',
) =>
  db
    .selectFrom('artifacts')
    .select('created_at')
    .where('type', '=', place('type'))
    .where('produced_by', '=', place('produced_by'))
    .where('visibility_kind', '=', place('visibility_kind'))
    .where('replay', '=', sql.lit(COUNTS_TABLES.indexOf(table)))
    .where(sql.ref<number>(`${table}.count`), '>', place('count'))
    .orderBy('created_at', order)
    .limit(1);
