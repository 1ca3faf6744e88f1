/**
 * What streams show besides artifacts, as it goes over the wire. It has no position and is not kept: a reader that is not there misses it.
 * Times are ISO 8601.
 */
export type LiveEvent = ArtifactConsumed | ExecutionChanged | ExecutionEscalated | ExecutionOutput | RunProgress | BatchProgress | CorrelationSettled;

interface ArtifactConsumed {
  event_type: 'artifact_consumed';
  artifact_id: string;
  consumer: string;
  execution_id: string;
  correlation_id: string;
  timestamp: string;
}

interface ExecutionChanged {
  event_type: 'execution_started' | 'execution_retrying' | 'execution_failed' | 'execution_succeeded';
  execution_id: string;
  agent: string;
  attempt: number;
  correlation_id: string;
  /** Of what was tried in vain. */
  error_type?: string;
  /** When a retry may start. */
  retry_at?: string;
  timestamp: string;
}

/** It was due, and is somebody else's now. */
interface ExecutionEscalated {
  event_type: 'execution_escalated';
  execution_id: string;
  agent: string;
  assignee: string;
  correlation_id: string;
  timestamp: string;
}

/** What a model says while an execution runs, in the order of saying it. */
interface ExecutionOutput {
  event_type: 'execution_output';
  execution_id: string;
  agent: string;
  attempt: number;
  /** Which answer of the attempt it is a piece of, from 1: it may call tools between them, or have one sent back. */
  answer: number;
  text: string;
  correlation_id: string;
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
  state: 'completed' | 'failed' | 'cancelled';
  timestamp: string;
}
