import type { Generated } from 'kysely';

/**
 * The tables, one schema for both databases. Times are epoch milliseconds, JSON is text and booleans are 0 and 1,
 * because both databases store and compare these alike.
 */
export interface Schema {
  artifacts: ArtifactsTable;
  artifact_tags: ArtifactTagsTable;
  artifact_counts: ArtifactCountsTable;
  artifact_deletions: ArtifactDeletionsTable;
  rollups: RollupsTable;
  correlations: CorrelationsTable;
  executions: ExecutionsTable;
  execution_inputs: ExecutionInputsTable;
  execution_attempts: ExecutionAttemptsTable;
  agent_pauses: AgentPausesTable;
  consumptions: ConsumptionsTable;
  usage: UsageTable;
  deleted_usage: DeletedUsageTable;
  budget_reservations: BudgetReservationsTable;
  tool_calls: ToolCallsTable;
  activity: ActivityTable;
  activity_hours: ActivityHoursTable;
  join_groups: JoinGroupsTable;
  join_arrivals: JoinArrivalsTable;
  timers: TimersTable;
  scheduler_locks: SchedulerLocksTable;
  runs: RunsTable;
  batches: BatchesTable;
  batch_rows: BatchRowsTable;
  batch_keys: BatchKeysTable;
  idempotency_keys: IdempotencyKeysTable;
  webhook_targets: WebhookTargetsTable;
  correlation_targets: CorrelationTargetsTable;
  deliveries: DeliveriesTable;
  delivery_attempts: DeliveryAttemptsTable;
  program_versions: ProgramVersionsTable;
  workers: WorkersTable;
  subscriptions: SubscriptionsTable;
}

export interface ArtifactsTable {
  /** Position in commit order. */
  seq: Generated<number>;
  id: string;
  type: string;
  version: number;
  payload: string;
  produced_by: string;
  /** JSON of the visibility object of the wire. */
  visibility: string;
  visibility_kind: string;
  /** JSON list, for reading. `artifact_tags` is the index on it. */
  tags: string;
  partition_key: string | null;
  correlation_id: string;
  /** The execution that produced it. Null if a client published it. */
  execution_id: string | null;
  created_at: number;
}

export interface ArtifactTagsTable {
  tag: string;
  artifact_seq: number;
}

/**
 * Rollup: counts of the artifacts up to the position `rollups.up_to_seq` of `artifacts`. A total adds the few artifacts
 * after that position, so it never scans the table. Publishing does not write here.
 */
export interface ArtifactCountsTable {
  type: string;
  produced_by: string;
  visibility_kind: string;
  count: number;
  earliest_created_at: number;
  latest_created_at: number;
}

/**
 * Counts of what retention has deleted, by type. Written in the transaction of the deletion, so that `count` and the
 * remaining artifacts always add up.
 */
export interface ArtifactDeletionsTable {
  type: string;
  /** The highest deleted position. */
  up_to_seq: number;
  count: number;
}

export interface RollupsTable {
  name: string;
  up_to_seq: number;
}

export type CorrelationState = 'active' | 'completed' | 'failed' | 'cancelled';

/** Sums of model usage. */
export interface UsageSums {
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  /** In the currency of the configured prices. Null if none of the models that were used has a price. */
  cost: Generated<number | null>;
}

export interface CorrelationsTable extends UsageSums {
  id: string;
  state: CorrelationState;
  /** 1 if nothing may be published into it any more. */
  closed: number;
  /** 1 if no client waits for it: its executions come after others of equal priority. */
  background: Generated<number>;
  /** Starts at 1. Publishing into a settled correlation begins the next generation; each settles once. */
  generation: number;
  /** How many executions, timed groups, undecided joins and releases keep it open. */
  pending: number;
  /** All artifacts ever published into it, including deleted ones. */
  artifact_count: number;
  error_count: number;
  /** How many of them retention has deleted. */
  deleted_artifacts: Generated<number>;
  deleted_errors: Generated<number>;
  /** Artifacts that agents produced, without errors. It decides between completed and failed. */
  output_count: number;
  /** Executions created in this generation. The cascade limit runs its query only if this exceeds the limit. */
  generation_executions: number;
  /** JSON list of the agents whose limit was reported in this generation. */
  limited_agents: string;
  /** When this generation is cancelled if it is still active (epoch ms). Null for never. */
  deadline_at: number | null;
  /** Number of webhook targets that clients have set for this correlation. */
  webhook_targets: Generated<number>;
  /** The parent of its trace (W3C Trace Context). Null if it is not traced. */
  traceparent: string | null;
  started_at: number;
  last_activity_at: number;
  settled_at: number | null;
}

export type ExecutionState = 'pending' | 'running' | 'completed' | 'failed' | 'cancelled';

export interface ExecutionsTable {
  seq: Generated<number>;
  id: string;
  agent: string;
  /**
   * Index in the agent's `consumes` of the subscription that triggered it or, if a caller named the agent, that fits
   * its inputs. Null for executions that were made before this column existed.
   */
  subscription: Generated<number | null>;
  correlation_id: string;
  generation: number;
  state: ExecutionState;
  /** 1 for a direct run: no agent reacts to its outputs. */
  direct: number;
  /** Twice the priority of its subscription, minus one for background work. */
  priority: number;
  /** The current or next attempt, from 1 in each round. */
  attempt: number;
  /** How many times it was retried by hand after its final failure. */
  round: Generated<number>;
  /** Start of the current attempt, set by its last claim. Meaningless while it is pending. */
  attempt_started_at: Generated<number | null>;
  /** The time of a pending retry. Null if it may be claimed now. */
  available_at: number | null;
  /** Set while it runs. Every claim makes a new token, which guards the outcome. */
  lease_token: string | null;
  /** The process that runs it. Null if an external worker holds it, whose lease ends only with its time. */
  lease_owner: string | null;
  lease_until: number | null;
  /** External agents only: the person or system that shall do the work. Null if anyone may. */
  assignee: Generated<string | null>;
  /** The name that the last external claimant gave, or null. */
  claimed_by: Generated<string | null>;
  /**
   * The lease under which an external worker ended its last attempt, or `released` and the released lease. It lets the
   * worker repeat its request.
   */
  ended_lease: Generated<string | null>;
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

/** Model usage of one attempt. An attempt that was repeated after a lost lease has several rows. */
export interface UsageTable {
  seq: Generated<number>;
  execution_id: string;
  attempt: number;
  /** The lease during the usage. After a lost lease the attempt is repeated under another one. */
  lease_token: string;
  agent: string;
  correlation_id: string;
  /** The model's name in the configuration. */
  model: string;
  input_tokens: number;
  output_tokens: number;
  cost: number | null;
  /** Sum over its model calls. */
  latency_ms: number;
  at: number;
}

/** Model usage of an agent's deleted executions in one correlation. Read and written with the correlation locked. */
export interface DeletedUsageTable {
  correlation_id: string;
  agent: string;
  /** Input and output tokens. */
  tokens: number;
  /** Zero if nothing had a price. */
  cost: number;
}

/**
 * The budget that an attempt's model call may use while its lease is valid; zero between two calls. For an execution
 * that waits for room in a budget, the amount that it needs. Written with the correlation locked.
 */
export interface BudgetReservationsTable {
  execution_id: string;
  lease_token: string;
  correlation_id: string;
  agent: string;
  /** Input and output tokens. */
  tokens: number;
  /** How many of the tokens are input. Null, like `model`, if an older version made the reservation. */
  input_tokens: number | null;
  /** The model's name in the configuration. */
  model: string | null;
  /** Zero if the model has no price. */
  cost: number;
  /** 1 if the execution waits for room. */
  waits: number;
}

/** One tool call by the model of an attempt. */
export interface ToolCallsTable {
  seq: Generated<number>;
  execution_id: string;
  attempt: number;
  /** The lease during the call, as in `usage`. */
  lease_token: string;
  server: string;
  tool: string;
  /** `error`: the tool reported an error. `failed`: no answer came. */
  outcome: 'ok' | 'error' | 'failed';
  /** When it began (epoch ms). */
  at: number;
  /** Null if the attempt ended first. */
  duration_ms: number | null;
  /** Bytes (UTF-8) of the result that the model received. */
  result_bytes: number;
}

/**
 * One row for each ended execution and for the model usage of each attempt. A background step adds them up in
 * `activity_hours` and then deletes them.
 */
export interface ActivityTable extends UsageSums {
  seq: Generated<number>;
  agent: string;
  /** Epoch ms of the hour's start. */
  hour: number;
  executions: number;
  failures: number;
  artifacts_consumed: number;
  artifacts_produced: number;
}

export interface ActivityHoursTable extends UsageSums {
  agent: string;
  hour: number;
  executions: number;
  failures: number;
  artifacts_consumed: number;
  artifacts_produced: number;
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
 * join group to evaluate, the time limit of a group, the deadline of a correlation, or the due time of an execution.
 */
export interface TimersTable {
  id: string;
  kind: 'release' | 'judge' | 'close' | 'deadline' | 'due';
  /** Epoch ms. After a failure, the time of the next try. */
  due_at: number;
  /** The artifact's seq, the group's id, the correlation's generation and id, or the execution's id. */
  subject: string;
  /** Number of failed tries. */
  failures: Generated<number>;
  /** The original `due_at`. Null if no try has failed. */
  was_due_at: number | null;
}

/** Scheduled work that one process at a time does. A conditional update decides which one. */
export interface SchedulerLocksTable {
  name: string;
  /** Epoch ms. The process that has the lock moves it forward when it takes the lock and while it works. */
  due_at: number;
}

/** `starting` is not stored: it is a running run whose execution was not claimed yet. */
export type RunState = 'running' | 'completed' | 'failed' | 'cancelled';

/** A correlation as a run (docs/api.md, "Run a workflow"). Both have the same id. */
export interface RunsTable {
  /** Position in the order of creation. */
  seq: Generated<number>;
  id: string;
  agent: string;
  status: RunState;
  /** The execution that runs the named agent on the inputs. Null if a batch row could not be turned into inputs. */
  execution_id: string | null;
  batch_id: string | null;
  /** The round of the batch that started it. A failed run of an earlier round will run again. */
  batch_round: number;
  /** How many items of the batch it represents: its own and those that repeat its row. */
  batch_items: number;
  created_at: number;
  ended_at: number | null;
  error: string | null;
}

/**
 * `importing`: its rows are still being read, and it is not visible to clients. `removed`: its rows are being deleted,
 * and it is no longer visible. `starting` is not stored: it is a running batch without a first run.
 */
export type BatchState = 'importing' | 'running' | 'completed' | 'failed' | 'cancelled' | 'removed';

/** The usage sums cover its ended runs. */
export interface BatchesTable extends UsageSums {
  seq: Generated<number>;
  id: string;
  agent: string;
  status: BatchState;
  /** How many runs may run at the same time. */
  max_workers: number;
  total_items: number;
  succeeded_items: number;
  failed_items: number;
  /** Runs that were started and have not ended. */
  running_runs: number;
  /** The first row that this round has not processed yet. */
  next_position: number;
  /** Starts at 0 and increases with every `retry-failed`. */
  round: number;
  /** JSON of the inputs that every run gets. A row's own values take precedence. */
  static_inputs: string;
  /** Bytes that the inputs of all runs take in the database, including `static_inputs`. */
  stored_bytes: Generated<number>;
  /** 1 if it was ever cancelled, so that some of its rows may never run. */
  was_cancelled: Generated<number>;
  error: string | null;
  /** The process that imports its rows, and the end of its lease. Null when all rows are stored. */
  import_owner: string | null;
  import_until: number | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
}

export interface BatchRowsTable {
  /** `batches.seq`, because it is shorter than the id and a batch may have a million rows. */
  batch_seq: number;
  /** Starts at 0, in the order of the input. */
  position: number;
  /** JSON of the run's inputs. */
  inputs: string;
  /** Why the row cannot be turned into inputs. Only this row fails. */
  problem: string | null;
  /** Position of the first row with the same `row_key`, whose result this row repeats. Null for that first row. */
  repeats: number | null;
  /** How many rows repeat this one. */
  copies: Generated<number>;
  run_id: string | null;
}

/** The first row for each `row_key` value, while rows are imported. */
export interface BatchKeysTable {
  batch_seq: number;
  key: string;
  position: number;
}

export interface IdempotencyKeysTable {
  endpoint: string;
  key: string;
  request_hash: string;
  /** JSON of the ids that the request uses. */
  ids: string;
  /** The process that holds the reservation. */
  owner: string;
  lease_until: number;
  /** JSON of the stored answer. Null while the first request runs and if the answer is large. */
  response: string | null;
  /** JSON of the pieces of a large answer: texts, and positions of artifacts. */
  pieces: Generated<string | null>;
  expires_at: number;
}

/** A live process on the database. Columns are null for processes of versions that did not set them. */
export interface WorkersTable {
  /** The value of `executions.lease_owner`. */
  id: string;
  /** JSON list of the names of the agents in its configuration. */
  agents: string;
  /** JSON object: agent → numbers of its subscriptions in which artifacts wait, as in `subscriptions`. */
  subscriptions: Generated<string | null>;
  /** JSON list. */
  roles: Generated<string | null>;
  version: Generated<string | null>;
  /** Digest of its configuration. */
  configuration: Generated<string | null>;
  started_at: Generated<number | null>;
  /** When it last renewed this row (epoch ms). */
  seen_at: Generated<number | null>;
  /** Epoch ms. Renewed together with its leases. */
  seen_until: number;
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

/** A destination of deliveries. Equal destinations share a row. */
export interface WebhookTargetsTable {
  id: string;
  url: string;
  /** The URL's origin. The health of a receiver applies to all targets with its origin. */
  origin: string;
  /** Who set the target, which decides what addresses it may reach. */
  by: 'client' | 'operator';
  /**
   * Sealed JSON list of the signing secrets. Null if there are none, and for the operator's, which the settings hold.
   */
  secrets: string | null;
  /** The same for equal targets. It reveals nothing about the secrets without their key. */
  fingerprint: string;
  created_at: number;
  /** Start of the first failed try since the target last worked. Null if the last try did not fail. */
  failing_since: Generated<number | null>;
}

/** The targets that clients have set for a correlation. */
export interface CorrelationTargetsTable {
  correlation_id: string;
  target_id: string;
}

/** `waiting`: an earlier delivery of the same correlation to the same target has not ended. */
export type DeliveryState = 'waiting' | 'pending' | 'running' | 'delivered' | 'dead';

export interface DeliveriesTable {
  /** Also its place among the deliveries of its correlation to its target. */
  seq: Generated<number>;
  /** Also the header `webhook-id`, on every try. */
  id: string;
  target_id: string;
  /** The queue of its target, from which it is claimed (src/features/webhooks/target-queue.ts). */
  queue: string;
  correlation_id: string;
  artifact_seq: number;
  artifact_id: string;
  /** The artifact's number in its correlation, from 1. */
  sequence: number;
  state: DeliveryState;
  /** 0, or -1 for background work, which comes after other deliveries to the same target. */
  priority: number;
  /** The current or next try, from 1. */
  attempt: number;
  /**
   * Start of the current try, set by its last claim. While it is pending, the time when it was last claimed or sent
   * again by hand.
   */
  attempt_started_at: Generated<number | null>;
  /** The time of a pending retry. Null if it may be claimed now. */
  available_at: Generated<number | null>;
  /** The following columns mean the same as those of executions. */
  lease_token: Generated<string | null>;
  lease_owner: Generated<string | null>;
  lease_until: Generated<number | null>;
  claim: Generated<number | null>;
  lost_leases: number;
  /** The span that published its artifact, in the trace of its correlation. Null if it is not traced. */
  traceparent: Generated<string | null>;
  created_at: number;
  /** When it was first claimed. */
  started_at: Generated<number | null>;
  /** Null exactly while it is waiting, pending or running. */
  ended_at: Generated<number | null>;
  /** HTTP status of the last try's answer. */
  last_status: Generated<number | null>;
  last_error: Generated<string | null>;
}

export interface DeliveryAttemptsTable {
  seq: Generated<number>;
  delivery_id: string;
  /** Starts at 1, and again at 1 when the delivery is sent again by hand. */
  attempt: number;
  started_at: number;
  duration_ms: number;
  /** Null if no answer came. */
  status: number | null;
  /** Null if it was delivered. */
  error: string | null;
}

export interface ProgramVersionsTable {
  migration: string;
  /** The oldest version that may use the schema after this migration. */
  oldest_program: string;
  migrated_at: Generated<string>;
}
