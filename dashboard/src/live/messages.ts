/** An artifact's entry in the changelog. */
export interface Entry {
  event_type: 'artifact_published';
  seq: number;
  artifact_id: string;
  artifact_type: string;
  produced_by: string;
  correlation_id: string;
  timestamp: string;
}

/** Something that happened besides publishing; docs/changelog.md lists the fields of each. */
export interface OtherEvent {
  event_type: (typeof OTHER_EVENTS)[number];
  timestamp: string;
  correlation_id?: string;
  execution_id?: string;
  agent?: string;
  attempt?: number;
  error_type?: string;
  retry_at?: string;
  artifact_id?: string;
  consumer?: string;
  assignee?: string;
  answer?: number;
  text?: string;
  run_id?: string;
  batch_id?: string;
  status?: string;
  total_items?: number;
  completed_items?: number;
  failed_items?: number;
  state?: string;
}

export type LiveEvent = Entry | OtherEvent;

export const OTHER_EVENTS = [
  'artifact_consumed',
  'execution_started',
  'execution_succeeded',
  'execution_retrying',
  'execution_failed',
  'execution_escalated',
  'execution_output',
  'run_progress',
  'batch_progress',
  'correlation_settled',
] as const;

/** `since` is a time in ms. `away`: the service does not answer. */
export interface LiveState {
  kind: 'connecting' | 'live' | 'away';
  since: number;
}

/** The messages that a tab gets from the connection that it shares with the other tabs. */
export type FromConnection =
  | { kind: 'events'; events: LiveEvent[] }
  | { kind: 'state'; state: LiveState }
  /**
   * Events may be missing: what is shown must be fetched again. Unless `all`, only what follows from events can be out of
   * date.
   */
  | { kind: 'resync'; all: boolean };

/** The messages that a tab sends to the connection. */
export type FromTab = { kind: 'visible' } | { kind: 'hidden' };
