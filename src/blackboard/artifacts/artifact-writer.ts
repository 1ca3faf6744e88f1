import { Injectable } from '@nestjs/common';

import type { Visibility } from '../../catalog/visibility.js';
import type { JsonObject } from '../../common/json.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { StoredArtifacts } from '../../pubsub/stored-artifacts.js';
import type { ArtifactRow } from './artifact.js';
import { ArtifactHandover } from './artifact-handover.js';
import { insertArtifact, insertArtifactsAt, insertTags, takeArtifactPositions } from './stored-artifact-rows.js';

/** An artifact that is about to be stored. */
export interface ArtifactDraft {
  id: string;
  type: string;
  version: number;
  payload: JsonObject;
  /** `payload` as JSON text, as it is stored. */
  payloadText: string;
  producedBy: string;
  visibility: Visibility;
  tags: string[];
  partitionKey: string | null;
  correlationId: string;
  executionId: string | null;
  /** Its correlation is a replay. */
  replay: boolean;
  /** Epoch ms. */
  createdAt: number;
}

/** Writes artifacts and their tags. */
@Injectable()
export class ArtifactWriter {
  constructor(
    private readonly storedArtifacts: StoredArtifacts,
    private readonly handover: ArtifactHandover,
  ) {}

  /** Returns the new position, or null if an artifact with this id is already stored; then nothing is written. */
  async insert(tx: Transaction, draft: ArtifactDraft): Promise<number | null> {
    const row = rowOf(draft);
    const [stored] = await insertArtifact(tx.db, row);
    if (!stored) return null;
    await this.inserted(tx, draft, { ...row, seq: stored.seq });
    return stored.seq;
  }

  /**
   * Takes positions for artifacts that the transaction stores later, so that it need not wait for each of them. Call it after the
   * transaction has stored another artifact.
   */
  async takePositions(tx: Transaction, count: number): Promise<number[]> {
    return count === 0 ? [] : takeArtifactPositions(tx.db, { count });
  }

  /** Stores an artifact with a new id at a position from `takePositions`. */
  async insertAt(tx: Transaction, draft: ArtifactDraft, seq: number): Promise<void> {
    const row = { ...rowOf(draft), seq };
    await insertArtifactsAt(tx.db, [row]);
    await this.inserted(tx, draft, row);
  }

  private async inserted(tx: Transaction, { tags }: ArtifactDraft, row: ArtifactRow): Promise<void> {
    const { seq } = row;
    await insertTags(
      tx.db,
      [...new Set(tags)].map((tag) => ({ tag, artifact_seq: seq })),
    );
    this.storedArtifacts.stored(tx, seq);
    this.handover.stored(tx, row);
  }
}

const rowOf = (draft: ArtifactDraft): Omit<ArtifactRow, 'seq'> => ({
  id: draft.id,
  type: draft.type,
  version: draft.version,
  payload: draft.payloadText,
  produced_by: draft.producedBy,
  visibility: JSON.stringify(draft.visibility),
  visibility_kind: draft.visibility.kind,
  tags: JSON.stringify(draft.tags),
  partition_key: draft.partitionKey,
  correlation_id: draft.correlationId,
  execution_id: draft.executionId,
  created_at: draft.createdAt,
  replay: draft.replay ? 1 : 0,
});
