import { toTimestamp } from '../../common/timestamp.js';
import type { AgentArtifact } from '../../engines/engine.js';
import type { ArtifactRow, SHARED_COLUMNS } from './artifact.js';
import type { ArtifactDraft } from './artifact-writer.js';

/** An input of an execution that starts. */
export type ExecutionInput = Pick<ArtifactRow, (typeof SHARED_COLUMNS)[number] | 'seq'> & {
  /** Null if it is large. A large payload is read when there is memory for it (see InputParsing). */
  payload: string | null;
  payload_bytes: number;
};

/**
 * The largest payload, in bytes, that an execution starts with. The limit is this for the first input, a half of it for
 * the second, a third for the next and so on, so that a thousand inputs have at most eight times as much together. One
 * round claims 64 executions.
 */
export const SMALL_PAYLOAD_BYTES = 64 * 1_024;

/** The input that a query would return for this artifact, which is stored at `seq`. */
export function inputOf(draft: ArtifactDraft, seq: number, position: number): ExecutionInput {
  const bytes = Buffer.byteLength(draft.payloadText);
  return {
    seq,
    id: draft.id,
    type: draft.type,
    produced_by: draft.producedBy,
    created_at: draft.createdAt,
    correlation_id: draft.correlationId,
    partition_key: draft.partitionKey,
    tags: JSON.stringify(draft.tags),
    version: draft.version,
    payload: bytes <= SMALL_PAYLOAD_BYTES / (position + 1) ? draft.payloadText : null,
    payload_bytes: bytes,
  };
}

/** A new artifact, as agents see it when it is stored. */
export const agentArtifactFromDraft = (draft: ArtifactDraft): AgentArtifact => ({
  id: draft.id,
  type: draft.type,
  payload: draft.payload,
  tags: draft.tags,
  produced_by: draft.producedBy,
  correlation_id: draft.correlationId,
  partition_key: draft.partitionKey,
  version: draft.version,
  created_at: toTimestamp(draft.createdAt),
});
