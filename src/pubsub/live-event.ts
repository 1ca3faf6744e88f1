/**
 * A live event in the form of the wire: what streams show besides artifacts. It has no position and is not stored, so
 * readers that are not connected miss it. Times are ISO 8601. `replay` is true if the correlation is a replay, and absent
 * otherwise.
 */
export type LiveEvent =
  | ArtifactConsumed
  | ExecutionChanged
  | ExecutionEscalated
  | ExecutionOutput
  | RunProgress
  | BatchProgress
  | CorrelationSettled;

interface ArtifactConsumed {
  event_type: 'artifact_consumed';
  artifact_id: string;
  consumer: string;
  execution_id: string;
  correlation_id: string;
  replay?: boolean;
  timestamp: string;
}

interface ExecutionChanged {
  event_type: 'execution_started' | 'execution_retrying' | 'execution_failed' | 'execution_succeeded';
  execution_id: string;
  agent: string;
  attempt: number;
  correlation_id: string;
  replay?: boolean;
  /** Error type of the failed attempt. */
  error_type?: string;
  /** When a retry may start. */
  retry_at?: string;
  timestamp: string;
}

/** The execution was due and is now assigned to someone else. */
interface ExecutionEscalated {
  event_type: 'execution_escalated';
  execution_id: string;
  agent: string;
  assignee: string;
  correlation_id: string;
  replay?: boolean;
  timestamp: string;
}

/** Text that a model produces while an execution runs, in order. */
interface ExecutionOutput {
  event_type: 'execution_output';
  execution_id: string;
  agent: string;
  attempt: number;
  /**
   * The answer of the attempt to which the text belongs, from 1. An attempt has several if the model calls tools or
   * must correct its answer.
   */
  answer: number;
  text: string;
  correlation_id: string;
  replay?: boolean;
  timestamp: string;
}

interface RunProgress {
  event_type: 'run_progress';
  run_id: string;
  agent: string;
  status: 'starting' | 'completed' | 'failed' | 'cancelled';
  correlation_id: string;
  timestamp: string;
}

interface BatchProgress {
  event_type: 'batch_progress';
  batch_id: string;
  agent: string;
  status: 'starting' | 'running' | 'completed' | 'failed' | 'cancelled';
  total_items: number;
  completed_items: number;
  failed_items: number;
  timestamp: string;
}

interface CorrelationSettled {
  event_type: 'correlation_settled';
  correlation_id: string;
  replay?: boolean;
  state: 'completed' | 'failed' | 'cancelled';
  timestamp: string;
}
