import type { Position } from '../../common/page-cursor.js';
import type { CorrelationState, JoinGroupsTable } from '../../database/schema.js';

/**
 * Why an execution has not ended. `running`: a process runs it. `held`: a client has claimed it, or a remote agent
 * answers later. The others are pending: until the time of a retry, until a process claims it (`ready`), until a client
 * claims it (`unclaimed`), until a slot of its agent (`concurrency`) or of a process (`slots`) is free, until its agent
 * is resumed, until a process has its agent, until one has the configuration of its replay, until there is room in a
 * budget, or until a limit has room.
 */
export const EXECUTION_WAITS = [
  'running',
  'held',
  'retry',
  'ready',
  'unclaimed',
  'concurrency',
  'slots',
  'paused',
  'no_process',
  'no_configuration',
  'budget',
  'limit',
] as const;

export const GROUP_WAITS = ['join', 'window'] as const;

/** `release`: an artifact becomes visible to agents. `deadline`: the correlation is cancelled. */
export const TIMER_WAITS = ['release', 'deadline'] as const;

export const WAITS = [...TIMER_WAITS, ...GROUP_WAITS, ...EXECUTION_WAITS] as const;

/** An execution that has not ended, in the form of the wire. */
export interface WaitingExecution {
  kind: (typeof EXECUTION_WAITS)[number];
  execution_id: string;
  agent: string;
  /** The current or next attempt. */
  attempt: number;
  since: string;
  /** When it stops waiting without anything else happening. Null if only an event ends the wait. */
  until: string | null;
  /** Says what is used of the limit or the concurrency that it waits for, and its place among those that wait. Otherwise null. */
  limit: string | null;
  assignee: string | null;
  claimed_by: string | null;
  due_at: string | null;
}

/** A join group or a batch window that is open, in the form of the wire. */
export interface OpenGroup {
  kind: (typeof GROUP_WAITS)[number];
  group_id: string;
  agent: string;
  /** Index in the agent's `consumes`. Null if the configuration of this process does not have it. */
  subscription: number | null;
  types: string[];
  /** JSON. Null for a window without a key. */
  join_key: string | null;
  /** Null if its artifacts belong to several correlations. */
  correlation_id: string | null;
  /** `complete`: all artifacts of a join are there, and its `where` is not evaluated yet. */
  state: JoinGroupsTable['state'];
  /** Type → number of artifacts that have arrived. */
  received: Record<string, number>;
  /** Types that a join still needs. */
  waiting_for: string[];
  size: number;
  /** Null for a window of `debounce`, and for one whose subscription this process does not have. */
  size_needed: number | null;
  since: string;
  /** Null if it waits without a time limit. It then does not keep its correlations active. */
  until: string | null;
  /** True if no live process has its subscription. */
  without_process: boolean;
}

/** A timer of a correlation, in the form of the wire. */
export interface WaitingTimer {
  kind: (typeof TIMER_WAITS)[number];
  /** The hidden artifact of a release. */
  artifact_id: string | null;
  artifact_type: string | null;
  /** When the artifact was published. Null for a deadline. */
  since: string | null;
  until: string;
}

export type Wait = WaitingExecution | OpenGroup | WaitingTimer;

/** One page of what a correlation waits for. */
export interface WaitsPage {
  state: CorrelationState;
  counts: Record<(typeof WAITS)[number], number>;
  items: Wait[];
  /** The position of the last item. Null on the last page. */
  next: Position | null;
}
