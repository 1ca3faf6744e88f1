import { Injectable } from '@nestjs/common';

import { EXTERNAL, WORKFLOW_ERROR } from '../../catalog/definitions.js';
import type { Visibility } from '../../catalog/visibility.js';
import type { JsonObject } from '../../common/json.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { StoredArtifacts } from '../../pubsub/stored-artifacts.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { insertArtifact, insertTags } from './stored-artifact-rows.js';

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
  /** Epoch ms. */
  createdAt: number;
}

/** Writes artifacts and their tags, and counts them in their correlation. */
@Injectable()
export class ArtifactWriter {
  constructor(private readonly storedArtifacts: StoredArtifacts) {}

  /** Returns the new position, or null if an artifact with this id is already stored; then nothing is written. */
  async insert(tx: Transaction, draft: ArtifactDraft): Promise<number | null> {
    const [stored] = await insertArtifact(tx.db, {
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
    });
    if (!stored) return null;
    const { seq } = stored;
    await insertTags(
      tx.db,
      [...new Set(draft.tags)].map((tag) => ({ tag, artifact_seq: seq })),
    );
    this.storedArtifacts.stored(tx, seq);
    return seq;
  }

  /** Counts the artifact that is stored at `seq`. */
  count(
    changes: CorrelationChanges,
    correlation: TrackedCorrelation,
    seq: number,
    draft: Pick<ArtifactDraft, 'id' | 'type' | 'producedBy'>,
  ): void {
    correlation.artifact_count += 1;
    if (draft.type === WORKFLOW_ERROR) correlation.error_count += 1;
    else if (draft.producedBy !== EXTERNAL) correlation.output_count += 1;
    changes.add({ seq, id: draft.id, correlation });
  }
}
