import type { ExecutionState } from '../../database/schema.js';

/** All verdicts. The matcher returns those from `type` to `key_error`; the others follow from stored data. */
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

/** The fate of an artifact at one subscription, in the form of the wire. Fields that do not apply are absent. */
export interface Explanation {
  agent: string;
  /** Index in the agent's `consumes`. Null if no stored data says which. */
  subscription: number | null;
  verdict: (typeof VERDICTS)[number];
  /** One sentence for people. */
  detail: string;
  execution_id?: string;
  execution_state?: ExecutionState;
  /** The execution's correlation. It differs from the artifact's if a join or window spans several. */
  execution_correlation_id?: string;
  /** Types that a waiting join still needs. */
  waiting_for?: string[];
  /** The JSON of the key under which it waits. Absent for a window without a key. */
  join_key?: string;
  /** Artifacts in the batch window. */
  size?: number;
  /** Artifacts that fill the batch window. Null if the subscription is no longer in the configuration. */
  size_needed?: number | null;
  /** Time when the group's or window's first artifact arrived. */
  since?: string;
  /** Time when the waiting ends by itself. Null if it has no limit. */
  until?: string | null;
  /** The WorkflowError that reports it. */
  error_artifact_id?: string;
}

export const CANCEL_VERDICTS = [
  'cancels',
  'own_output',
  'visibility',
  'key_null',
  'key_error',
  'not_offered',
  'from_record',
] as const;

/** Whether an artifact cancels executions of an agent that has its type in `cancel_on`. */
export interface CancelExplanation {
  agent: string;
  verdict: (typeof CANCEL_VERDICTS)[number];
  /** One sentence for people. */
  detail: string;
}

export interface ArtifactExplanation {
  artifact_id: string;
  type: string;
  produced_by: string;
  correlation_id: string;
  /** In the order of the configuration, followed by subscriptions that are no longer in it. */
  verdicts: Explanation[];
  /** In the order of the configuration. Absent if no agent has the artifact's type in `cancel_on`. */
  cancels?: CancelExplanation[];
}
