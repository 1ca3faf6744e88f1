import { dialectOf } from '../../database/dialects/dialect.js';
import { places, prepared, preparedWithList } from '../../database/prepared.js';
import { insertGiven, sharedInsert, sharedTake, sharing } from '../../database/shared-statement.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { ArtifactRow } from './artifact.js';

const COLUMNS = [
  'id',
  'type',
  'version',
  'payload',
  'produced_by',
  'visibility',
  'visibility_kind',
  'tags',
  'partition_key',
  'correlation_id',
  'execution_id',
  'created_at',
  'replay',
] as const;

/** Inserts an artifact, and returns its position. Returns no row if an artifact with its id is stored. */
export const insertArtifact = sharing<Omit<ArtifactRow, 'seq'>, { seq: number }>(
  prepared((db, place) =>
    db
      .insertInto('artifacts')
      .values(places(place, COLUMNS))
      .onConflict((conflict) => conflict.column('id').doNothing())
      .returning('seq'),
  ),
  {
    table: 'artifacts',
    columns: COLUMNS,
    rowOf: (row) => row,
    key: 'id',
    answers: true,
    addsRows: false,
    build: (db, given) =>
      insertGiven(db, 'artifacts', COLUMNS, given)
        .onConflict((conflict) => conflict.column('id').doNothing())
        .returning(['seq', 'id']),
  },
);

/** Inserts artifacts at positions that `takeArtifactPositions` has taken. */
export const insertArtifactsAt = sharedInsert('artifacts', ['seq', ...COLUMNS]);

export const takeArtifactPositions = sharedTake((db, count) => dialectOf(db).takePositions(db, 'artifacts', count));

export const insertTags = sharedInsert('artifact_tags', ['tag', 'artifact_seq']);

/** Returns the ids of the artifacts at these positions, in the same order. */
export async function findArtifactIds({ db }: Transaction, seqs: readonly number[]): Promise<string[]> {
  const rows = await db.selectFrom('artifacts').select(['seq', 'id']).where('seq', 'in', seqs).execute();
  const ids = new Map(rows.map(({ seq, id }) => [seq, id]));
  return seqs.map((seq) => ids.get(seq)!);
}

/** Finds the distinct visibilities of these artifacts, each with the creation time of the newest artifact that has it. */
export const findVisibilities = preparedWithList<object, string, { visibility: string; newest: number }>(
  (db, _place, ids) =>
    db
      .selectFrom('artifacts')
      .select(({ fn }) => ['visibility', fn.max('created_at').as('newest')])
      .where('id', 'in', ids)
      .groupBy('visibility'),
);
