import type { CorrelationState, ExecutionState, ReplayMode } from '../../database/schema.js';
import type { ReplayedAs } from '../correlations/replay-values.js';

/** An artifact of the correlation, in the form of the wire. */
export interface TracedArtifact {
  id: string;
  type: string;
  produced_by: string;
  /** The execution that published it. Null for what a client published and for errors without an execution. */
  execution_id: string | null;
  created_at: string;
  /** The executions that have it as an input, oldest first. */
  input_of: string[];
}

export interface TracedAttempt {
  /** Starts at 1 in each round. */
  attempt: number;
  /** How many times the execution had been retried by hand after its final failure. */
  round: number;
  /** Null if no engine was started. */
  started_at: string | null;
  ended_at: string | null;
  error_type: string | null;
  error_message: string | null;
  /** The origin of the error (`error_stacks`). Absent if it is unknown. */
  cause?: string;
  stack?: string;
}

/** An execution that has an artifact of the correlation as input or output, in the form of the wire. */
export interface TracedExecution {
  id: string;
  agent: string;
  subscription: number;
  /** True if a caller named the agent, for a run or a direct run. */
  invoked: boolean;
  /** Another correlation's if a join or batch window spans several. */
  correlation_id: string;
  generation: number;
  state: ExecutionState;
  created_at: string;
  started_at: string | null;
  ended_at: string | null;
  /** True if it waits for an agent that no process has, otherwise absent. */
  without_agent?: true;
  /** Absent if it does not belong to a replay. */
  replay?: ReplayedAs;
  /** When the next attempt may start. Null if no attempt waits for its time. */
  next_attempt_at: string | null;
  /** The attempts that have started, in order. */
  attempts: TracedAttempt[];
  /** Why it failed finally. Null if it did not. */
  error_type: string | null;
  error_message: string | null;
  /** See TracedAttempt. */
  cause?: string;
  stack?: string;
  /** The artifact that cancelled it by a key. Absent if none did. */
  cancelled_by?: string;
  /** The execution whose answer it took. Absent if it took none. */
  cached_from?: string;
  /** The execution with the same key of `singleton` for which it did not run. Absent for all others. */
  skipped_for?: string;
  /** The artifact that took the place of its input by `debounce`, so that it did not run. Absent for all others. */
  superseded_by?: string;
  /** The variant of its agent that its last attempt had. Absent before its end, and if the agent has none. */
  variant?: string;
  /** Only for external agents: the person or system that must do the work. Null if anyone may. */
  assignee: string | null;
  /** The name that the last claimant gave. */
  claimed_by: string | null;
  /** Until when an external claimant holds it. Null if none does. */
  lease_until: string | null;
  due_at: string | null;
  /** Artifact ids, in the order in which the agent receives them. */
  inputs: string[];
  /** Artifact ids, in the order of publishing. */
  outputs: string[];
  /** True if it has more inputs, outputs or attempts than are listed. */
  truncated: boolean;
}

/** One page of a correlation's artifacts, with all executions that consumed or published them. */
export interface Trace {
  correlation_id: string;
  /** Absent if it is not a replay. */
  replay_mode?: ReplayMode;
  state: CorrelationState;
  generation: number;
  started_at: string;
  last_activity_at: string;
  settled_at: string | null;
  artifact_count: number;
  error_count: number;
  artifacts: TracedArtifact[];
  executions: TracedExecution[];
  /** True if the correlation has more artifacts after these. */
  truncated: boolean;
}
