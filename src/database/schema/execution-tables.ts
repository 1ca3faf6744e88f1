import type { ColumnType, Generated } from 'kysely';

/** Executions, with their inputs and attempts. */
export interface ExecutionTables {
  executions: ExecutionsTable;
  execution_attempts: ExecutionAttemptsTable;
  agent_pauses: AgentPausesTable;
  limit_rates: LimitRatesTable;
  limit_values: LimitValuesTable;
  breakers: BreakersTable;
  fair_keys: FairKeysTable;
  fair_agents: FairAgentsTable;
  cancel_requests: CancelRequestsTable;
  cached_answers: CachedAnswersTable;
  definitions: DefinitionsTable;
  execution_inputs: ExecutionInputsTable;
  consumptions: ConsumptionsTable;
  failure_changes: FailureChangesTable;
  failure_groups: FailureGroupsTable;
}

export type ExecutionState = 'pending' | 'running' | 'completed' | 'failed' | 'cancelled';

export interface ExecutionsTable {
  seq: Generated<number>;
  id: string;
  agent: string;
  /**
   * Index in the agent's `consumes` of the subscription that triggered it or, if a caller named the agent, that fits
   * its inputs.
   */
  subscription: number;
  correlation_id: string;
  generation: number;
  /** It is changed by `changeState` (src/queue/change-state.ts) alone. */
  state: ColumnType<ExecutionState, ExecutionState, never>;
  /** 1 for a direct run: no agent reacts to its outputs. */
  direct: number;
  /** Whether it belongs to a replay, and how it was answered (src/blackboard/correlations/replay-values.ts). */
  replay: Generated<number>;
  /** The priority of its subscription. */
  priority: number;
  /** 1 if no client waits for it: it comes after others of its agent with equal priority. */
  background: Generated<number>;
  /** The current or next attempt, from 1 in each round. */
  attempt: number;
  /** How many times it was retried by hand after its final failure. */
  round: Generated<number>;
  /** Start of the current attempt, set by its last claim. Meaningless while it is pending. */
  attempt_started_at: Generated<number | null>;
  /**
   * The time of a pending retry. Null if it may be claimed now. docs/architecture.md lists what a pending execution waits
   * for, by this column, `blocked_on`, `singleton_waits` and `replay`.
   */
  available_at: number | null;
  /** Set while it runs. Every claim makes a new token, which guards the outcome. */
  lease_token: string | null;
  /** The process that runs it. Null if an external worker holds it, whose lease ends only with its time. */
  lease_owner: string | null;
  lease_until: number | null;
  /** The lease under which a remote agent answers later. Meanwhile the execution uses no limits. Null if there was none. */
  deferred_lease: Generated<string | null>;
  /** Only for external agents: the person or system that must do the work. Null if anyone may. */
  assignee: Generated<string | null>;
  /** The name that the last external claimant gave, or null. */
  claimed_by: Generated<string | null>;
  /** The lease under which an external worker ended its last attempt. It lets the worker repeat its request. */
  ended_lease: Generated<string | null>;
  /** The digest of the answer with which that worker completed the execution. Null if another version did. */
  ended_answer: Generated<string | null>;
  /** The lease that an external worker released last, for the same reason. */
  released_lease: Generated<string | null>;
  /** When it escalates or fails if it has not ended (epoch ms). Null for never. */
  due_at: Generated<number | null>;
  /** When it escalated (epoch ms). */
  escalated_at: Generated<number | null>;
  /** The number of its last claim, in increasing order over all processes. Null if only one process claims. */
  claim: Generated<number | null>;
  lost_leases: number;
  /** The span that caused it, in the trace of its correlation. Null if it is not traced. */
  traceparent: string | null;
  /** 1 if the agent receives its inputs as a list: the execution of a batch window. */
  batch: number;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  error_type: string | null;
  error_message: string | null;
  /** The causes of the error, and its frames in the agents' files. Null unless `error_stacks` was on. */
  error_cause: Generated<string | null>;
  error_stack: Generated<string | null>;
  /** The group of its failure (src/common/failure-group.ts). Null unless it has failed. */
  failure_group: Generated<string | null>;
  /**
   * The configuration that its replay takes agents from (`configurationKey`). A process needs it to run the execution. Null
   * for none, and for external agents.
   */
  configuration: Generated<string | null>;
  /** The digest of the agent's definition that its last attempt had. Null before its end, and if it is not known. */
  definition: Generated<string | null>;
  /**
   * The variant of the agent that its last attempt had, or `base` for the agent's own options. Null before its end, and if
   * the agent has no variants.
   */
  variant: Generated<string | null>;
  /**
   * JSON: `[limit, key, units]` of each limit that it takes part in, with the keys that its inputs gave when it was
   * queued. Null if there is none, or if they are not computed yet.
   */
  limit_keys: Generated<string | null>;
  /** JSON: those of `limit_keys` that it holds until it ends, because their limits have `hold`. Null before its first start. */
  held_keys: Generated<string | null>;
  /** JSON: `[limit, key]` of the limit that it waits for. `available_at` is then later than every time. */
  blocked_on: Generated<string | null>;
  /** 1 if the limit that it waited for has let it go. A claim lets others start only if none waits for their limits. */
  unblocked: Generated<number>;
  /**
   * JSON: `[limit, key]` of the limit that has let it go, if its key of `fair_by` took its turn there then. Null if its
   * start counts as a turn.
   */
  counted_in: Generated<string | null>;
  /** JSON: the key by which it takes turns with other executions of its agent. Null if it has none, or an assignee. */
  fair_key: Generated<string | null>;
  /** How many turns its key has for each turn of a key with weight 1. Null without a key. */
  fair_weight: Generated<number | null>;
  /**
   * JSON: the key by which artifacts cancel it (src/blackboard/matching/cancel-keys.ts). Null if its agent has no
   * `cancel_on`, or if nothing can cancel it so.
   */
  cancel_key: Generated<string | null>;
  /** The id of the artifact that cancelled it. */
  cancelled_by: Generated<string | null>;
  /** The id of the execution whose answer it took (`cache` of its agent). Null if it took none. */
  cached_from: Generated<string | null>;
  /** JSON: the key of which one execution at a time has its turn. Null if its agent has no `singleton`. */
  singleton_key: Generated<string | null>;
  /** 1 while it waits for its turn, of which `blocked_on` has the key. */
  singleton_waits: Generated<number>;
  /** The execution with the same key of `singleton` that had not ended. It was cancelled for that. */
  skipped_for: Generated<string | null>;
  /** The artifact that took the place of its input by `debounce`. It never started. */
  superseded_by: Generated<string | null>;
}

/** Answers that later executions with an equal key take. */
export interface CachedAnswersTable {
  /** A hash of the agent, its definition, and the value of its key or its inputs. */
  key: string;
  /** JSON (src/blackboard/execution/cached-answers.ts). */
  answer: string;
  /** The execution that gave it. */
  execution_id: string;
  /** Epoch ms. An expired answer is not used, although its row may exist for a while. */
  expires_at: number;
}

/** The executions of an agent and a key that an artifact cancels. A row is deleted when they have ended. */
export interface CancelRequestsTable {
  id: string;
  agent: string;
  /** The value of `executions.cancel_key`, or of `executions.singleton_key`. */
  cancel_key: string;
  /** 1 if it is a key of `singleton`. */
  singleton: Generated<number>;
  /** Its executions up to this position. */
  up_to_seq: number;
  artifact_id: string;
}

/**
 * The keys that take turns in a line: those that have executions which may start now, and those that have some which wait
 * for a limit. Triggers on `executions` insert them, and claims and releases delete those that have no execution left. On
 * Postgres a key has several rows if transactions that ran at the same time inserted it.
 */
export interface FairKeysTable {
  seq: Generated<number>;
  /** The agent, or the line of those that wait for a limit (`waitingLine` in src/blackboard/fairness/fair-lines.ts). */
  agent: string;
  /** The value of `executions.fair_key`. */
  fair_key: string;
  /** The key with the lowest one comes next. It increases by 1 / weight with each start. */
  turn: number;
  /** That of the execution that was queued or started last. */
  weight: number;
}

/** The agents with `fair_by` that have started executions, and lines from which some have started. */
export interface FairAgentsTable {
  /** As in `fair_keys`. */
  agent: string;
  /** The turn of the last start. New keys begin one turn after it. */
  virtual_time: number;
}

/** Values that a client has set for a limit, instead of those of the configuration file. */
export interface LimitValuesTable {
  name: string;
  /** JSON: `concurrency`, `rate` and `burst`, as in the file. */
  options: string;
  set_at: number;
}

/** The use of rates of limits, and places that are kept free. A key whose pause has been long enough has no row. */
export interface LimitRatesTable {
  /** The form of `executions.blocked_on`. */
  limit_key: string;
  /** The time until which the units so far last at the rate (epoch ms, with fractions). */
  used_until: number;
  /** The length of the burst with which it was used last, in ms. Null if that is not known. */
  burst_ms: Generated<number | null>;
  /** The length of a unit at the rate with which it was used last, in ms. Null if that is not known. */
  unit_ms: Generated<number | null>;
  /** The execution for which a place of the concurrency is kept free, or was. */
  kept_for: Generated<string | null>;
  /** Until when the place is kept (epoch ms). */
  kept_until: Generated<number | null>;
}

/**
 * Breakers of agents, and variants of agents with `rollback`, which are breakers that never close. A key of whose last
 * attempts none failed has no row.
 */
export interface BreakersTable {
  /** The form of `executions.blocked_on`, or the key of a variant (src/catalog/variants.ts). */
  breaker_key: string;
  agent: string;
  /** Null for a breaker. */
  variant: string | null;
  /** Which of the last attempts failed (src/blackboard/limits/breaker-rule.ts). */
  outcomes: string;
  /** Until then nothing starts (epoch ms), and after it one attempt at a time. Null if the breaker is closed. */
  open_until: number | null;
  /** When it opened last (epoch ms). Null if it is closed. */
  opened_at: number | null;
  /** The row is deleted after this time (epoch ms), unless an attempt ends before. */
  forget_at: number;
}

/** The definitions that agents have and had. */
export interface DefinitionsTable {
  digest: string;
  agent: string;
  /** JSON (src/catalog/stored-definition.ts). */
  definition: string;
  /** When a process with it first started (epoch ms). */
  first_used_at: number;
}

/** An attempt that failed and was followed by another one. The execution's row has the data of its last attempt. */
export interface ExecutionAttemptsTable {
  execution_id: string;
  /** The value of `executions.round` at the time. */
  round: number;
  attempt: number;
  /** Null if no engine was started because its agent was removed. */
  started_at: number | null;
  ended_at: number;
  error_type: string;
  error_message: string;
  /** See ExecutionsTable. */
  error_cause: Generated<string | null>;
  error_stack: Generated<string | null>;
}

/** Agents whose executions wait until they are resumed. */
export interface AgentPausesTable {
  agent: string;
  paused_at: number;
}

export interface ExecutionInputsTable {
  execution_id: string;
  position: number;
  artifact_seq: number;
}

export interface ConsumptionsTable {
  artifact_seq: number;
  execution_id: string;
  consumer: string;
  consumed_at: number;
}

/**
 * One row for each failed execution, and for each time that failed executions of a group were retried or deleted. A
 * background step adds them up in `failure_groups` and then deletes them, so that failures of one group do not wait for
 * each other.
 */
export interface FailureChangesTable {
  seq: Generated<number>;
  failure_group: string;
  /** By how much the count of the group changes. */
  change: number;
  /** The following columns describe a failure. They are null if the count decreases: the group is known then. */
  agent: string | null;
  error_type: string | null;
  /** The normalised message. */
  message: string | null;
  failed_at: number | null;
}

/** Failed executions with the same agent, error type and normalised message. */
export interface FailureGroupsTable {
  /** The value of `executions.failure_group`. */
  id: string;
  agent: string;
  error_type: string;
  message: string;
  /** How many executions of the group are failed now, without the rows of `failure_changes` that follow. */
  count: number;
  /** When an execution of the group first failed, even if it was retried since. */
  first_at: number;
  /** When an execution of the group last failed, even if it was retried since. */
  last_at: number;
}
