import type { CorrelationState, ExecutionState } from '../../database/schema.js';

/** An artifact of the correlation, as it stands on the wire. */
export interface TracedArtifact {
  id: string;
  type: string;
  produced_by: string;
  /** The execution that published it; null for what a client published, and for errors of no execution. */
  execution_id: string | null;
  created_at: string;
  /** The executions that have it as an input, in the order in which they were made. */
  input_of: string[];
}

export interface TracedAttempt {
  /** From 1 in each round. */
  attempt: number;
  /** How often the execution had been retried by hand, after it had failed for good. */
  round: number;
  /** Null where no engine was started. */
  started_at: string | null;
  ended_at: string | null;
  error_type: string | null;
  error_message: string | null;
}

/** An execution with an artifact of the correlation among its inputs or outputs, as it stands on the wire. */
export interface TracedExecution {
  id: string;
  agent: string;
  subscription: number | null;
  /** Whether a caller named the agent, for a run or a direct run. */
  invoked: boolean;
  /** Another one's where a join or a batch window spans several. */
  correlation_id: string;
  generation: number;
  state: ExecutionState;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  /** True where it waits for an agent that no process has; absent where it does not. */
  without_agent?: true;
  /** When the next attempt may start; null where none waits for its time. */
  next_attempt_at: string | null;
  /** Those that have started, in order. */
  attempts: TracedAttempt[];
  /** Why it failed for good; null where it did not. */
  error_type: string | null;
  error_message: string | null;
  /** Of an external agent's: whose it is; null where it is anybody's. */
  assignee: string | null;
  /** The name that whoever claimed it last, from outside, gave. */
  claimed_by: string | null;
  /** Until when whoever claimed it from outside holds it; null where nobody does. */
  lease_until: string | null;
  due_at: string | null;
  /** Ids of artifacts, in the order in which the agent sees them. */
  inputs: string[];
  /** Ids of artifacts, in the order of publishing. */
  outputs: string[];
  /** True where it has more inputs, outputs or attempts than are listed. */
  truncated: boolean;
}

/** One page of a correlation's artifacts, with all executions around them. */
export interface Trace {
  correlation_id: string;
  state: CorrelationState;
  generation: number;
  started_at: string;
  last_activity_at: string;
  settled_at: string | null;
  artifact_count: number;
  error_count: number;
  artifacts: TracedArtifact[];
  executions: TracedExecution[];
  /** True where the correlation has artifacts behind these. */
  truncated: boolean;
}
