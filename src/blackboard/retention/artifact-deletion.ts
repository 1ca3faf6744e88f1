import { Injectable } from '@nestjs/common';
import { sql, type SqlBool } from 'kysely';

import { Catalog } from '../../catalog/catalog.js';
import { prepared, preparedWithList } from '../../database/prepared.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { CorrelationTracker } from '../correlations/correlation-tracker.js';
import { JoinRemoval } from '../joins/join-removal.js';
import { WINDOW_KEY } from '../joins/waiting-groups.js';
import { rolledUpTo } from '../queries/rollup-position.js';
import { AT_ONCE, type Cleanup, type Deletion } from './cleanup.js';
import { type ArtifactKind, countDeleted, type DeletedArtifact } from './deleted-counts.js';
import { SettledCorrelations } from './settled-correlations.js';

interface Old {
  seq: number;
  correlation_id: string;
  created_at: number;
}

/**
 * Deletes artifacts that are older than their type's `retain`, with their tags and consumptions. It keeps all artifacts
 * of an active correlation or of a stored run. It also keeps, in any correlation, the members of batch windows, of
 * joins with a time limit and of completed joins, and the inputs of executions that have not ended. An artifact that
 * waits in a join without a time limit is removed from the join.
 */
@Injectable()
export class ArtifactDeletion implements Deletion {
  readonly name = 'artifacts';

  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
    private readonly correlations: SettledCorrelations,
    private readonly tracker: CorrelationTracker,
    private readonly joinRemoval: JoinRemoval,
  ) {}

  async run(cleanup: Cleanup): Promise<number> {
    let deleted = 0;
    for (const { name, retainMs } of this.catalog.types) {
      const cutoff = cleanup.cutoff(retainMs);
      if (cutoff === null) continue;
      for (const { earliest_created_at: from, ...kind } of await findKinds(this.unitOfWork.reader, {
        type: name,
        cutoff,
      })) {
        deleted += await this.deleteKind(cleanup, kind, { from, cutoff });
      }
    }
    return deleted;
  }

  private async deleteKind(
    cleanup: Cleanup,
    kind: ArtifactKind,
    { from, cutoff }: { from: number; cutoff: number },
  ): Promise<number> {
    const { reader } = this.unitOfWork;
    let place = { after: from, afterSeq: -1 };
    let deleted = 0;
    while (await cleanup.goesOn()) {
      const old = await findOld(reader, { ...kind, ...place, cutoff });
      const last = old.at(-1);
      if (!last) break;
      place = { after: last.created_at, afterSeq: last.seq };
      // This check needs no transaction, and many old artifacts may have to stay.
      const free = await this.findFree(
        reader,
        cleanup,
        old.map(({ seq }) => seq),
      );
      if (free.length > 0) deleted += await cleanup.step((tx) => this.deleteFree(tx, cleanup, kind, free));
      if (old.length < AT_ONCE) break;
    }
    return deleted;
  }

  private async deleteFree(
    tx: Transaction,
    cleanup: Cleanup,
    kind: ArtifactKind,
    found: readonly DeletedArtifact[],
  ): Promise<number> {
    // Joins are locked before correlations, in the same order as everywhere else, to avoid deadlocks.
    await this.joinRemoval.holdArtifacts(
      tx,
      found.map(({ seq }) => seq),
    );
    const held = await this.correlations.hold(
      tx,
      found.map(({ correlation_id }) => correlation_id),
      cleanup.settledBy,
    );
    const candidates = found.filter(({ correlation_id }) => held.includes(correlation_id)).map(({ seq }) => seq);
    // Checked again with the locks held: this finds what has started to need an artifact meanwhile, and from here on
    // nothing new can.
    const free = await this.findFree(tx.db, cleanup, candidates);
    if (free.length === 0) return 0;
    const seqs = free.map(({ seq }) => seq);
    await this.joinRemoval.removeArtifacts(tx, this.tracker.begin(tx, cleanup.now), seqs);
    await deleteTags(tx.db, {}, seqs);
    await deleteConsumptions(tx.db, {}, seqs);
    await deleteArtifacts(tx.db, {}, seqs);
    await countDeleted(tx, kind, free);
    await this.correlations.removeEmpty(tx, held);
    return free.length;
  }

  private findFree(
    db: UnitOfWork['reader'],
    { settledBy }: Cleanup,
    seqs: readonly number[],
  ): Promise<DeletedArtifact[]> {
    return this.free(db, { settledBy }, seqs);
  }

  // One statement sees one snapshot: an artifact that leaves a join or window becomes an execution's input in the same
  // transaction. Artifacts that are not rolled up yet stay, because a running rollup may or may not count them.
  private readonly free = preparedWithList<{ settledBy: number }, number, DeletedArtifact>((db, place, seqs) =>
    db
      .selectFrom('artifacts')
      .innerJoin('correlations', 'correlations.id', 'artifacts.correlation_id')
      .select(['artifacts.seq', 'artifacts.correlation_id'])
      .where('artifacts.seq', 'in', seqs)
      .where('artifacts.seq', '<=', rolledUpTo('artifacts'))
      .where(this.correlations.letsContentGo(place('settledBy')))
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
}

// A join without a time limit may wait forever, so it does not keep its members. A batch window keeps them: it fills
// with whatever comes next, and its size is bounded.
const NEEDS_ITS_MEMBERS = sql<SqlBool>`(join_groups.closes_at is not null or join_groups.state <> 'waiting' or join_groups.key = ${sql.lit(WINDOW_KEY)})`;

// Executions are found by their ids here: see queue/state-predicate.ts.
const HAS_NOT_ENDED = sql<SqlBool>`coalesce(executions.state, '') in ('pending', 'running')`;

/** Finds the kinds of a type that have something old, with the time of their earliest artifact. */
const findKinds = prepared<{ type: string; cutoff: number }, ArtifactKind & { earliest_created_at: number }>(
  (db, place) =>
    db
      .selectFrom('artifact_counts')
      .select(['type', 'produced_by', 'visibility_kind', 'earliest_created_at'])
      .where('type', '=', place('type'))
      .where('earliest_created_at', '<=', place('cutoff')),
);

/** Finds the next artifacts of a kind, oldest first. */
const findOld = prepared<ArtifactKind & { after: number; afterSeq: number; cutoff: number }, Old>((db, place) =>
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

const deleteTags = preparedWithList<object, number, unknown>((db, _place, seqs) =>
  db.deleteFrom('artifact_tags').where('artifact_seq', 'in', seqs),
);

const deleteConsumptions = preparedWithList<object, number, unknown>((db, _place, seqs) =>
  db.deleteFrom('consumptions').where('artifact_seq', 'in', seqs),
);

const deleteArtifacts = preparedWithList<object, number, unknown>((db, _place, seqs) =>
  db.deleteFrom('artifacts').where('seq', 'in', seqs),
);
