import type { Generated } from 'kysely';

import type { UsageSums } from './usage-tables.js';

/** Artifacts, their counts, and the correlations that they belong to. */
export interface ArtifactTables {
  artifacts: ArtifactsTable;
  artifact_tags: ArtifactTagsTable;
  artifact_counts: ArtifactCountsTable;
  replay_counts: ArtifactCountsTable;
  artifact_deletions: ArtifactDeletionsTable;
  rollups: RollupsTable;
  correlations: CorrelationsTable;
  correlation_terms: CorrelationTermsTable;
}

export interface ArtifactsTable {
  /** Position in commit order. */
  seq: Generated<number>;
  id: string;
  type: string;
  version: number;
  payload: string;
  produced_by: string;
  /** JSON of the visibility object of the wire. */
  visibility: string;
  visibility_kind: string;
  /** JSON list, for reading. `artifact_tags` is the index on it. */
  tags: string;
  partition_key: string | null;
  correlation_id: string;
  /** The execution that produced it. Null if a client published it. */
  execution_id: string | null;
  created_at: number;
  /** 1 if its correlation is a replay. */
  replay: Generated<number>;
}

export interface ArtifactTagsTable {
  tag: string;
  artifact_seq: number;
}

/**
 * Rollup: counts of the artifacts up to the position `rollups.up_to_seq` of `artifacts`. A total adds the few artifacts
 * after that position, so it never scans the table. Publishing does not write here. `replay_counts` has the artifacts of
 * replays, and `artifact_counts` the others.
 */
export interface ArtifactCountsTable {
  type: string;
  produced_by: string;
  visibility_kind: string;
  count: number;
  earliest_created_at: number;
  latest_created_at: number;
}

/**
 * Counts of what retention has deleted, by type. Written in the transaction of the deletion, so that `count` and the
 * remaining artifacts always add up.
 */
export interface ArtifactDeletionsTable {
  type: string;
  /** The highest deleted position. */
  up_to_seq: number;
  count: number;
}

export interface RollupsTable {
  name: string;
  up_to_seq: number;
}

export type CorrelationState = 'active' | 'completed' | 'failed' | 'cancelled';

export type ReplayMode = 'full' | 'recorded' | 'shadow';

export interface CorrelationsTable extends UsageSums {
  /** A unique number. A later correlation may get the number of a deleted one. */
  seq: Generated<number>;
  id: string;
  state: CorrelationState;
  /** 1 if nothing may be published into it any more. */
  closed: number;
  /** 1 if no client waits for it: its executions come after others of equal priority. */
  background: Generated<number>;
  /** 1 if it may belong to a run. 2 if it belongs to none, but began with an agent that a caller named. Otherwise 0. */
  has_run: Generated<number>;
  /** Starts at 1. Publishing into a settled correlation begins the next generation; each settles once. */
  generation: number;
  /** How many executions, timed groups, undecided joins and releases keep it open. */
  pending: number;
  /** All artifacts ever published into it, including deleted ones. */
  artifact_count: number;
  error_count: number;
  /** How many of them retention has deleted. */
  deleted_artifacts: Generated<number>;
  deleted_errors: Generated<number>;
  /** Artifacts that agents produced, without errors. It decides between completed and failed. */
  output_count: number;
  /** Executions created in this generation. The cascade limit runs its query only if this exceeds the limit. */
  generation_executions: number;
  /** JSON list of the agents whose limit was reported in this generation. */
  limited_agents: string;
  /** When this generation is cancelled if it is still active (epoch ms). Null for never. */
  deadline_at: number | null;
  /**
   * JSON list of the rows of `correlation_terms` that version 0.1.0 wrote while publishing, as `<kind>:<value>`. Nothing
   * is added to it any more.
   */
  terms: Generated<string>;
  /** Number of webhook targets that clients have set for this correlation. */
  webhook_targets: Generated<number>;
  /** The parent of its trace (W3C Trace Context). Null if it is not traced. */
  traceparent: string | null;
  /** The correlation that it repeats. Null if it is not a replay. */
  origin: Generated<string | null>;
  /** Set for a replay only. */
  replay_mode: Generated<ReplayMode | null>;
  /** JSON: what a replay does differently from its origin. Null if nothing. */
  replay_options: Generated<string | null>;
  started_at: number;
  last_activity_at: number;
  settled_at: number | null;
}

export type CorrelationTermKind = 'agent' | 'type' | 'tag';

/**
 * Inverted index of correlations: the agents that had an execution in a correlation, and the types and tags of its
 * artifacts. A rollup writes a row after the first such execution or artifact; it is deleted with the correlation.
 */
export interface CorrelationTermsTable {
  kind: CorrelationTermKind;
  value: string;
  /** The start of the correlation, which never changes. Lists are sorted by it. */
  started_at: number;
  /** A number instead of the id, because there are many rows. */
  correlation_seq: number;
  /** 1 if the row of the correlation does not list it. */
  unlisted: number;
}
