import type { Selectable } from 'kysely';

import { PUBLIC, type Visibility } from '../../catalog/visibility.js';
import { rememberText } from '../../cel/language/json-text.js';
import type { JsonObject } from '../../common/json.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { ArtifactsTable } from '../../database/schema.js';
import type { AgentArtifact } from '../../engines/engine.js';

/** An artifact on the wire (docs/api.md, "Query artifacts"). */
export interface Artifact extends AgentArtifact {
  visibility: Visibility;
  visibility_kind: Visibility['kind'];
}

export type ArtifactRow = Selectable<ArtifactsTable>;

/** The columns that agents see besides the payload. */
export const SHARED_COLUMNS = [
  'id',
  'type',
  'produced_by',
  'created_at',
  'correlation_id',
  'partition_key',
  'tags',
  'version',
] as const;

type SharedRow = Pick<ArtifactRow, (typeof SHARED_COLUMNS)[number]>;

/** The artifact on the wire. Engines get theirs from `agentArtifactFromRow`, without the visibility. */
export function artifactFromRow(row: ArtifactRow): Artifact {
  return {
    ...sharedFields(row, JSON.parse(row.payload) as JsonObject),
    visibility: visibilityFrom(row.visibility),
    visibility_kind: row.visibility_kind as Visibility['kind'],
  };
}

export function agentArtifactFromRow(row: SharedRow, text: string): AgentArtifact {
  const payload = JSON.parse(text) as JsonObject;
  rememberText(payload, text);
  return sharedFields(row, payload);
}

const sharedFields = (row: SharedRow, payload: JsonObject): AgentArtifact => ({
  id: row.id,
  type: row.type,
  payload,
  produced_by: row.produced_by,
  created_at: toTimestamp(row.created_at),
  correlation_id: row.correlation_id,
  partition_key: row.partition_key,
  tags: row.tags === '[]' ? [] : (JSON.parse(row.tags) as string[]),
  version: row.version,
});

const PUBLIC_TEXT = JSON.stringify(PUBLIC);

// Most artifacts of a page are public, and comparing the text is cheaper than parsing it.
const visibilityFrom = (text: string): Visibility => (text === PUBLIC_TEXT ? PUBLIC : (JSON.parse(text) as Visibility));
