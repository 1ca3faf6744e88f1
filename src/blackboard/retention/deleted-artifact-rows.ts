import { type Expression, type RawBuilder, sql, type SqlBool } from 'kysely';

import { prepared, preparedWithList } from '../../database/prepared.js';
import { hasWindowKey } from '../joins/join-group-rows.js';
import { rolledUpTo } from '../queries/rollup-rows.js';
import { AT_ONCE } from './cleanup.js';
import { type ArtifactKind, COUNTS_TABLES, type DeletedArtifact } from './deleted-count-rows.js';

interface Old {
  seq: number;
  correlation_id: string;
  created_at: number;
}

/**
 * Makes a query for those artifacts that nothing needs and whose correlation meets the condition, which is built on
 * first use. One statement sees one snapshot: an artifact that leaves a join or window becomes an execution's input in
 * the same transaction. Artifacts that are not rolled up yet stay, because a running rollup may or may not count them.
 */
export const findingFreeArtifacts = (letsContentGo: (settledBy: RawBuilder<number>) => Expression<SqlBool>) =>
  preparedWithList<{ settledBy: number }, number, DeletedArtifact>((db, place, seqs) =>
    db
      .selectFrom('artifacts')
      .innerJoin('correlations', 'correlations.id', 'artifacts.correlation_id')
      .select(['artifacts.seq', 'artifacts.correlation_id', 'artifacts.replay'])
      .where('artifacts.seq', 'in', seqs)
      .where('artifacts.seq', '<=', rolledUpTo('artifacts'))
      .where('artifacts.seq', '<=', rolledUpTo('artifact_terms'))
      .where(letsContentGo(place('settledBy')))
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('join_arrivals')
              .innerJoin('join_groups', 'join_groups.id', 'join_arrivals.group_id')
              .select('join_arrivals.artifact_seq')
              .whereRef('join_arrivals.correlation_id', '=', 'artifacts.correlation_id')
              .whereRef('join_arrivals.artifact_seq', '=', 'artifacts.seq')
              .where(NEEDS_ITS_MEMBERS),
          ),
        ),
      )
      .where(({ not, exists, selectFrom }) =>
        not(
          exists(
            selectFrom('execution_inputs')
              .innerJoin('executions', 'executions.id', 'execution_inputs.execution_id')
              .select('executions.seq')
              .whereRef('execution_inputs.artifact_seq', '=', 'artifacts.seq')
              .where(HAS_NOT_ENDED),
          ),
        ),
      ),
  );

// A join without a time limit may wait forever, so it does not keep its members. A batch window keeps them: it fills
// with whatever comes next, and its size is bounded.
const NEEDS_ITS_MEMBERS = sql<SqlBool>`(join_groups.closes_at is not null or join_groups.state <> 'waiting' or ${hasWindowKey('join_groups.key')})`;

// Executions are found by their ids here, as in `isInState`.
const HAS_NOT_ENDED = sql<SqlBool>`coalesce(executions.state, '') in ('pending', 'running')`;

/** Finds the kinds of a type that have something old, with the time of their earliest artifact. */
export const findKinds = prepared<{ type: string; cutoff: number }, ArtifactKind & { earliest_created_at: number }>(
  (db, place) =>
    db
      .selectFrom(
        COUNTS_TABLES.map((table) =>
          db
            .selectFrom(table as 'artifact_counts')
            .select(['type', 'produced_by', 'visibility_kind', 'earliest_created_at'])
            .where('type', '=', place('type'))
            .where('earliest_created_at', '<=', place('cutoff')),
        )
          .reduce((all, other) => all.unionAll(other))
          .as('kinds'),
      )
      .select(['type', 'produced_by', 'visibility_kind'])
      .select(({ fn }) => fn.min('earliest_created_at').as('earliest_created_at'))
      .groupBy(['type', 'produced_by', 'visibility_kind']),
);

/** Finds the next artifacts of a kind, oldest first. */
export const findOld = prepared<ArtifactKind & { after: number; afterSeq: number; cutoff: number }, Old>((db, place) =>
  db
    .selectFrom('artifacts')
    .select(['seq', 'correlation_id', 'created_at'])
    .where('type', '=', place('type'))
    .where('produced_by', '=', place('produced_by'))
    .where('visibility_kind', '=', place('visibility_kind'))
    .where(({ eb, refTuple, tuple }) =>
      eb(refTuple('created_at', 'seq'), '>', tuple(place('after'), place('afterSeq'))),
    )
    .where('created_at', '<=', place('cutoff'))
    .orderBy('created_at')
    .orderBy('seq')
    .limit(AT_ONCE),
);

export const deleteTags = preparedWithList<object, number, unknown>((db, _place, seqs) =>
  db.deleteFrom('artifact_tags').where('artifact_seq', 'in', seqs),
);

export const deleteConsumptions = preparedWithList<object, number, unknown>((db, _place, seqs) =>
  db.deleteFrom('consumptions').where('artifact_seq', 'in', seqs),
);

export const deleteArtifacts = preparedWithList<object, number, unknown>((db, _place, seqs) =>
  db.deleteFrom('artifacts').where('seq', 'in', seqs),
);
