import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { CorrelationTracker } from '../correlations/correlation-tracker.js';
import { JoinRemoval } from '../joins/join-removal.js';
import { AT_ONCE, type Cleanup, type Deletion } from './cleanup.js';
import {
  deleteArtifacts,
  deleteConsumptions,
  deleteTags,
  findingFreeArtifacts,
  findKinds,
  findOld,
} from './deleted-artifact-rows.js';
import { type ArtifactKind, countDeleted, type DeletedArtifact } from './deleted-count-rows.js';
import { SettledCorrelations } from './settled-correlations.js';

/**
 * Deletes artifacts that are older than their type's `retain`, with their tags and consumptions. It keeps all artifacts
 * of an active correlation or of a stored run. It also keeps, in any correlation, the members of batch windows, of
 * joins with a time limit and of completed joins, and the inputs of executions that have not ended. An artifact that
 * waits in a join without a time limit is removed from the join.
 */
@Injectable()
export class ArtifactDeletion implements Deletion {
  readonly name = 'artifacts';
  private readonly findFree = findingFreeArtifacts((settledBy) => this.correlations.letsContentGo(settledBy));

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
        { settledBy: cleanup.settledBy },
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
    const free = await this.findFree(tx.db, { settledBy: cleanup.settledBy }, candidates);
    if (free.length === 0) return 0;
    const seqs = free.map(({ seq }) => seq);
    await this.joinRemoval.removeArtifacts(tx, this.tracker.begin(tx), seqs);
    await deleteTags(tx.db, {}, seqs);
    await deleteConsumptions(tx.db, {}, seqs);
    await deleteArtifacts(tx.db, {}, seqs);
    await countDeleted(tx, kind, free);
    await this.correlations.removeEmpty(tx, held);
    return free.length;
  }
}
