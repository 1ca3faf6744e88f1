import { sql } from 'kysely';

import { OUTSIDE, WORKFLOW_ERROR } from '../../catalog/definitions.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import type { Reader } from '../../database/unit-of-work.js';

/** An artifact that no execution of its workflow has consumed. It is part of the run's result. */
export interface FinalArtifact {
  seq: number;
  correlation_id: string;
  type: string;
  /** JSON; null if it is larger than the query's limit. */
  payload: string | null;
  /** Size of the payload. */
  bytes: number;
}

/** Number of final artifacts in one query for several runs. Where the runs have more, each run is read separately. */
export const MOST_OF_SOME = 128;
const LARGEST_OF_SOME = 8 * 1_024;

// Only consumers in the same workflow count. A consumer in another workflow may come long after the run's end, and must
// not change the result that the run has answered.
const finalOf = (db: Reader) =>
  db
    .selectFrom('artifacts')
    .where('produced_by', 'not in', OUTSIDE)
    .where('type', '<>', WORKFLOW_ERROR)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('consumptions')
            .innerJoin('artifacts as made', 'made.execution_id', 'consumptions.execution_id')
            .select('made.seq')
            .whereRef('consumptions.artifact_seq', '=', 'artifacts.seq')
            .whereRef('made.correlation_id', '=', 'artifacts.correlation_id'),
        ),
      ),
    )
    // Bytes, because the database must read a text to count its characters.
    .select(['seq', 'correlation_id', 'type', sql<number>`octet_length(payload)`.as('bytes')]);

const payloadUpTo = (most: unknown) =>
  sql<string | null>`case when octet_length(payload) <= ${most} then payload end`.as('payload');

/** Finds the final artifacts of a run after a position, in order, with payloads of up to `most` bytes. */
export const findFinal = prepared<{ runId: string; after: number; limit: number; most: number }, FinalArtifact>(
  (db, place) =>
    finalOf(db)
      .select(payloadUpTo(place('most')))
      .where('correlation_id', '=', place('runId'))
      .where('seq', '>', place('after'))
      .orderBy('seq')
      .limit(place('limit')),
);

// The rows have no order: for the first rows of several correlations in order, Postgres would choose to scan all
// artifacts.
export const findFinalOfSome = preparedWithList<object, string, FinalArtifact>((db, _place, runIds) =>
  finalOf(db)
    .select(payloadUpTo(sql.lit(LARGEST_OF_SOME)))
    .where('correlation_id', 'in', runIds)
    .limit(sql.lit(MOST_OF_SOME)),
);
