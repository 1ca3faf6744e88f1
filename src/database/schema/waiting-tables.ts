import type { Generated } from 'kysely';

/** Work that waits: joins, batch windows and timers. */
export interface WaitingTables {
  subscriptions: SubscriptionsTable;
  join_groups: JoinGroupsTable;
  join_arrivals: JoinArrivalsTable;
  timers: TimersTable;
}

/**
 * Every subscription of any configuration so far in which artifacts can wait. Waiting artifacts refer to it by number.
 */
export interface SubscriptionsTable {
  agent: string;
  /** The value of `join_groups.subscription`. */
  number: number;
  /** Two subscriptions with the same identity are the same one in different configurations. */
  identity: string;
}

/** Artifacts that wait together: for the other types of a join, or for a batch window to fill. */
export interface JoinGroupsTable {
  id: string;
  agent: string;
  /** The value of `subscriptions.number`. */
  subscription: number;
  /** JSON of the join key; empty for a batch window. */
  key: string;
  /** Increases within (agent, subscription, key): first in, first out. */
  ordinal: number;
  /** `complete`: all artifacts are there, and `where` is not evaluated yet. */
  state: 'waiting' | 'complete';
  size: number;
  opened_at: number;
  /** Null if it waits without a limit. It then does not keep its correlation open. */
  closes_at: number | null;
}

export interface JoinArrivalsTable {
  agent: string;
  subscription: number;
  artifact_seq: number;
  group_id: string;
  key: string;
  ordinal: number;
  /** Index in the group, in the order of arrival. */
  position: number;
  type: string;
  correlation_id: string;
  arrived_at: number;
}

/**
 * Work that is due at a time and is not an execution: an artifact to release to its subscriptions, the `where` of a
 * join group to evaluate, the time limit of a group, the deadline of a correlation, the due time of an execution, the next
 * tick of a schedule, the keys of an execution's limits to compute, executions to cancel, or an execution of a replay that
 * the record answers.
 */
export interface TimersTable {
  id: string;
  kind: 'release' | 'judge' | 'close' | 'deadline' | 'due' | 'tick' | 'limits' | 'cancel' | 'answer';
  /** Epoch ms. After a failure, the time of the next try. */
  due_at: number;
  /** The artifact's seq, the group's id, the correlation's id, the execution's id, the schedule's name, or the id in `cancel_requests`. */
  subject: string;
  /** Number of failed tries. */
  failures: Generated<number>;
  /** The original `due_at`. Null if no try has failed. */
  was_due_at: number | null;
  /** The correlation of the artifact that it releases. Null for other kinds. */
  correlation_id: Generated<string | null>;
}
