import type { Visibility } from '../../catalog/visibility.js';
import { newId } from '../../common/ids.js';
import type { JsonObject } from '../../common/json.js';
import type { ArtifactRow } from '../artifacts/artifact.js';
import type { ArtifactDraft } from '../artifacts/artifact-writer.js';

/** Makes an artifact of a replay that repeats one of the record. */
export const recordedDraft = (
  row: ArtifactRow,
  owner: Pick<ArtifactDraft, 'correlationId' | 'executionId' | 'createdAt'>,
): ArtifactDraft => ({
  ...owner,
  id: newId(),
  type: row.type,
  version: row.version,
  payload: JSON.parse(row.payload) as JsonObject,
  payloadText: row.payload,
  producedBy: row.produced_by,
  visibility: JSON.parse(row.visibility) as Visibility,
  tags: JSON.parse(row.tags) as string[],
  partitionKey: row.partition_key,
  replay: true,
});
