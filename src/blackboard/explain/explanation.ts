import type { ExecutionState } from '../../database/schema.js';

/** Every verdict there is. From `type` to `key_error` they are the matcher's own; the others come of what is stored. */
export const VERDICTS = [
  'triggered',
  'invoked',
  'join_waiting',
  'join_undecided',
  'window_filling',
  'not_released',
  'type',
  'own_output',
  'producer',
  'tag',
  'visibility',
  'where_false',
  'where_error',
  'key_null',
  'key_error',
  'limit',
  'join_expired',
  'join_let_go',
  'agent_removed',
  'cancelled',
  'not_offered',
  'not_recorded',
] as const;

/** What became of an artifact at one subscription, as it stands on the wire; what does not apply is absent. */
export interface Explanation {
  agent: string;
  /** Its place in the agent's `consumes`; null where nothing is stored that says which. */
  subscription: number | null;
  verdict: (typeof VERDICTS)[number];
  /** One sentence for people. */
  detail: string;
  execution_id?: string;
  execution_state?: ExecutionState;
  /** The execution's, which is another than the artifact's where a join or a window spans several. */
  execution_correlation_id?: string;
  /** The types that a waiting join still lacks. */
  waiting_for?: string[];
  /** JSON of the key under which it waits. */
  join_key?: string;
  /** Artifacts in the batch window. */
  size?: number;
  /** Artifacts that fill the batch window; null where the subscription is no longer in the configuration. */
  size_needed?: number | null;
  /** When the group's or the window's first artifact came. */
  since?: string;
  /** When the waiting ends by itself; null for never. */
  until?: string | null;
  /** The WorkflowError that tells of it. */
  error_artifact_id?: string;
}

export interface ArtifactExplanation {
  artifact_id: string;
  type: string;
  produced_by: string;
  correlation_id: string;
  /** In the order of the configuration, and then those that are in it no more. */
  verdicts: Explanation[];
}
