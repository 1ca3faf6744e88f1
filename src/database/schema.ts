import type { Generated } from 'kysely';

/**
 * The tables, one schema for both databases. Times are epoch milliseconds, JSON is text, booleans are 0 and 1: what both
 * databases store and compare alike.
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
  /** JSON of the wire's visibility object. */
  visibility: string;
  visibility_kind: string;
  /** JSON list, for reading; `artifact_tags` is its index. */
  tags: string;
  partition_key: string | null;
  correlation_id: string;
  /** The execution that produced it; null for what a client published. */
  execution_id: string | null;
  created_at: number;
}

export interface ArtifactTagsTable {
  tag: string;
  artifact_seq: number;
}

/**
 * Rollups: together they count the artifacts up to `rollups.up_to_seq` of `artifacts`. Reading a total adds the few
 * artifacts after it and never scans; publishing writes nothing here.
 */
export interface ArtifactCountsTable {
  type: string;
  produced_by: string;
  visibility_kind: string;
  count: number;
  earliest_created_at: number;
  latest_created_at: number;
}

/** What retention has deleted of each type. Written with the deletion, so that `count` and what is still there always add up. */
export interface ArtifactDeletionsTable {
  type: string;
  /** The highest position that was deleted. */
  up_to_seq: number;
  count: number;
}

export interface RollupsTable {
  name: string;
  up_to_seq: number;
}

export type CorrelationState = 'active' | 'completed' | 'failed' | 'cancelled';

/** What was used of models, summed up. */
export interface UsageSums {
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  /** In the currency of the configured prices; null where no model that was used has one. */
  cost: Generated<number | null>;
}

export interface CorrelationsTable extends UsageSums {
  id: string;
  state: CorrelationState;
  /** 1 where nothing may be published into it any more. */
  closed: number;
  /** 1 where nobody waits for it: of equal priority, its executions come after others. */
  background: Generated<number>;
  /** Counted from 1: publishing into a settled correlation begins the next; each generation settles once. */
  generation: number;
  /** Executions, timed groups, undecided joins and releases that keep it open. */
  pending: number;
  /** All that were ever published into it. */
  artifact_count: number;
  error_count: number;
  /** How many of these retention has deleted. */
  deleted_artifacts: Generated<number>;
  deleted_errors: Generated<number>;
  /** Artifacts that agents produced, errors apart: what tells completed from failed. */
  output_count: number;
  /** Executions created in this generation; the cascade limit looks closer only where this passes it. */
  generation_executions: number;
  /** JSON list of the agents whose limit was reported in this generation. */
  limited_agents: string;
  /** When this generation is cancelled, if it is still active then (epoch ms); null for never. */
  deadline_at: number | null;
  /** How many targets of its own its artifacts are announced to. */
  webhook_targets: Generated<number>;
  /** What began its trace (W3C Trace Context); null where nothing was traced. */
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
   * Place of the subscription in the agent's `consumes`: what triggered it, or what its inputs were fitted to where a caller named
   * the agent. Null for executions that were made before it was kept.
   */
  subscription: Generated<number | null>;
  correlation_id: string;
  generation: number;
  state: ExecutionState;
  /** 1 for a direct run: no agent reacts to its outputs. */
  direct: number;
  /** Twice its subscription's, less one in the background. */
  priority: number;
  /** The attempt that runs or comes next, from 1 in each round. */
  attempt: number;
  /** How often it was retried by hand, after it had failed for good. */
  round: Generated<number>;
  /** Of this attempt, by its last claim; meant by nothing while it is pending. */
  attempt_started_at: Generated<number | null>;
  /** The retry timer of a pending one; null where it may be claimed now. */
  available_at: number | null;
  /** Set while running; a new token for every claim, and the guard of the outcome. */
  lease_token: string | null;
  /** The process that runs it; null where it is somebody's outside, whose lease ends with its time alone. */
  lease_owner: string | null;
  lease_until: number | null;
  /** Of an external agent's, whose it is; null where it is anybody's. */
  assignee: Generated<string | null>;
  /** By what name it was claimed last from outside; null where none was given. */
  claimed_by: Generated<string | null>;
  /** The lease under which its last attempt was ended from outside, or `released` and the lease that was given back, so that who did so may say so twice. */
  ended_lease: Generated<string | null>;
  /** When it is escalated or fails, if it has not ended; null for never. */
  due_at: Generated<number | null>;
  /** When it was. */
  escalated_at: Generated<number | null>;
  /** Number of its last claim; counts up over all processes. Null where one process alone claims. */
  claim: Generated<number | null>;
  lost_leases: number;
  /** What caused it, in its correlation's trace; null where nothing was traced. */
  traceparent: string | null;
  /** 1 where the view of the inputs is a list: the execution of a batch window. */
  batch: number;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
  error_type: string | null;
  error_message: string | null;
}

/** An attempt that failed and was followed by another one. The last one's data is with the execution itself. */
export interface ExecutionAttemptsTable {
  execution_id: string;
  /** As `executions.round` at the time. */
  round: number;
  attempt: number;
  /** Null where no engine was started: its agent had been removed. */
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

/** What one attempt used of a model; one that was begun again after a lost lease has several. */
export interface UsageTable {
  seq: Generated<number>;
  execution_id: string;
  attempt: number;
  /** Under which it was used: a lost lease repeats the attempt under another one. */
  lease_token: string;
  agent: string;
  correlation_id: string;
  /** As the configuration names it. */
  model: string;
  input_tokens: number;
  output_tokens: number;
  cost: number | null;
  /** Of its calls of the model, together. */
  latency_ms: number;
  at: number;
}

/** What an agent used in one correlation by executions that are deleted. Written and read under a hold on the correlation. */
export interface DeletedUsageTable {
  correlation_id: string;
  agent: string;
  /** Read and written together. */
  tokens: number;
  /** Zero where nothing had a price. */
  cost: number;
}

/**
 * What an attempt's call of a model may take of the budgets, as long as its lease holds; nothing between two calls. Or what it will ask
 * for, where the execution waits for room. Written under a hold on the correlation.
 */
export interface BudgetReservationsTable {
  execution_id: string;
  lease_token: string;
  correlation_id: string;
  agent: string;
  /** Read and written together. */
  tokens: number;
  /** How many of these are read; null where an older program has reserved them, and `model` too. */
  input_tokens: number | null;
  /** As the configuration names it. */
  model: string | null;
  /** Zero where the model has no price. */
  cost: number;
  /** 1 where it waits. */
  waits: number;
}

/** One call of a tool by an attempt's model. */
export interface ToolCallsTable {
  seq: Generated<number>;
  execution_id: string;
  attempt: number;
  /** As of `usage`. */
  lease_token: string;
  server: string;
  tool: string;
  /** `failed` where no answer came. */
  outcome: 'ok' | 'error' | 'failed';
  /** When it began. */
  at: number;
  /** Null where the attempt ended first. */
  duration_ms: number | null;
  /** Of what the model was told, as UTF-8. */
  result_bytes: number;
}

/** `error`: the tool said that it could not; `failed`: no answer came. */


/** One row for each ended execution and for what an attempt used of models, added up in `activity_hours` by a background step and then deleted. */
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
  /** As `subscriptions.number`. */
  subscription: number;
  /** JSON of the join key; empty for a batch window. */
  key: string;
  /** Counts up within (agent, subscription, key): first in, first out. */
  ordinal: number;
  /** `complete`: all there, `where` not yet judged. */
  state: 'waiting' | 'complete';
  size: number;
  opened_at: number;
  /** Null waits without limit, and keeps no correlation open. */
  closes_at: number | null;
}

export interface JoinArrivalsTable {
  agent: string;
  subscription: number;
  artifact_seq: number;
  group_id: string;
  key: string;
  ordinal: number;
  /** Place in the group, in the order of arrival. */
  position: number;
  type: string;
  correlation_id: string;
  arrived_at: number;
}

/**
 * Work on the blackboard that is due at a time and is no execution: an artifact to release to its subscriptions, a join
 * group whose `where` is to be judged, a group whose time is up; the deadline of a correlation, or when an execution is due.
 */
export interface TimersTable {
  id: string;
  kind: 'release' | 'judge' | 'close' | 'deadline' | 'due';
  /** Epoch ms; where it could not be fired, that of the next try. */
  due_at: number;
  /** The artifact's seq, the group's id, the correlation's generation and id, or the execution's id. */
  subject: string;
  /** How often it could not be fired. */
  failures: Generated<number>;
  /** `due_at` as it was set; null where it could be fired so far. */
  was_due_at: number | null;
}

/** Scheduled work that one process at a time does: whose turn it is, is decided by a conditional update. */
export interface SchedulerLocksTable {
  name: string;
  /** Epoch ms; moved on by whoever takes the turn, and while it works. */
  due_at: number;
}

/** `starting` is no state of its own here: a run whose execution was not claimed yet. */
export type RunState = 'running' | 'completed' | 'failed' | 'cancelled';

/** Interface A's view of a correlation, whose id it shares. */
export interface RunsTable {
  /** Position in the order of creation. */
  seq: Generated<number>;
  id: string;
  agent: string;
  status: RunState;
  /** The one that runs the named agent on the inputs; null where the inputs of a batch's row never became any. */
  execution_id: string | null;
  batch_id: string | null;
  /** The batch's round in which it was started; a failed one of an earlier round is to run again. */
  batch_round: number;
  /** How many of the batch's items it stands for: its own and those that repeat its row. */
  batch_items: number;
  created_at: number;
  ended_at: number | null;
  error: string | null;
}

/**
 * `importing`: its rows are still being read, and nobody is told of it. `removed`: they are being deleted, and nobody is told of it any
 * more. `starting` is a running one without a first run.
 */
export type BatchState = 'importing' | 'running' | 'completed' | 'failed' | 'cancelled' | 'removed';

/** The sums are of its runs that have ended. */
export interface BatchesTable extends UsageSums {
  seq: Generated<number>;
  id: string;
  agent: string;
  status: BatchState;
  /** Most runs at a time. */
  max_workers: number;
  total_items: number;
  succeeded_items: number;
  failed_items: number;
  /** Runs that were started and have not ended. */
  running_runs: number;
  /** The first row that was not looked at in this round. */
  next_position: number;
  /** From 0, and up with every `retry-failed`. */
  round: number;
  /** JSON of the inputs that every run gets; a row's own values come before them. */
  static_inputs: string;
  /** What the runs of all rows store of their inputs, `static_inputs` included. */
  stored_bytes: Generated<number>;
  /** 1 where it was cancelled once, so that some of its rows may never run. */
  was_cancelled: Generated<number>;
  error: string | null;
  /** The process that reads its rows, and how long it may be silent; null once all are in. */
  import_owner: string | null;
  import_until: number | null;
  created_at: number;
  started_at: number | null;
  ended_at: number | null;
}

export interface BatchRowsTable {
  /** `batches.seq`: shorter than the id, a million times. */
  batch_seq: number;
  /** From 0, in the order of the input. */
  position: number;
  /** JSON of the run's inputs. */
  inputs: string;
  /** Why the row cannot become inputs; it fails alone. */
  problem: string | null;
  /** Position of the first row with the same `row_key`, whose result this one repeats; null for the first itself. */
  repeats: number | null;
  /** How many rows repeat this one. */
  copies: Generated<number>;
  run_id: string | null;
}

/** The first row of each `row_key` value, while rows are read. */
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
  /** JSON of the cached answer; null while the first request runs, and where the answer is large. */
  response: string | null;
  /** JSON of what a large answer is made of: texts, and positions of artifacts. */
  pieces: Generated<string | null>;
  expires_at: number;
}

/** A live process on the database. What may be null is null for processes of versions that did not say it. */
export interface WorkersTable {
  /** As `executions.lease_owner`. */
  id: string;
  /** JSON list of the names of the agents that its configuration has. */
  agents: string;
  /** JSON object: agent → numbers of its subscriptions that wait, as in `subscriptions`. */
  subscriptions: Generated<string | null>;
  /** JSON list. */
  roles: Generated<string | null>;
  version: Generated<string | null>;
  /** Digest of its configuration. */
  configuration: Generated<string | null>;
  started_at: Generated<number | null>;
  /** Epoch ms; its last sign of life. */
  seen_at: Generated<number | null>;
  /** Epoch ms; renewed with its leases. */
  seen_until: number;
}

/** Every subscription in which artifacts can wait that any configuration has had: what waits belongs to it by its number. */
export interface SubscriptionsTable {
  agent: string;
  /** As `join_groups.subscription`. */
  number: number;
  /** What makes it the same one in another configuration. */
  identity: string;
}

/** Where deliveries go; equal ones are one. */
export interface WebhookTargetsTable {
  id: string;
  url: string;
  /** Of the url: what is known of a receiver's health holds for all its targets. */
  origin: string;
  /** Who gave it, and so what addresses it may reach. */
  by: 'client' | 'operator';
  /** Sealed JSON list of the secrets that sign; null where it has none, and for the operator's, which the settings hold. */
  secrets: string | null;
  /** Equal for equal targets; says nothing about the secrets to whoever has not their key. */
  fingerprint: string;
  created_at: number;
  /** The first try that failed after the last one that it answered; null where the last one did not fail. */
  failing_since: Generated<number | null>;
}

/** The targets that a client has named for a correlation. */
export interface CorrelationTargetsTable {
  correlation_id: string;
  target_id: string;
}

/** `waiting`: something before it in its group, which is one correlation's deliveries to one target, has not ended. */
export type DeliveryState = 'waiting' | 'pending' | 'running' | 'delivered' | 'dead';

export interface DeliveriesTable {
  /** Its place in the group, too. */
  seq: Generated<number>;
  /** Also `webhook-id`, on every try. */
  id: string;
  target_id: string;
  /** Of its target, by which it is claimed (src/features/webhooks/target-queue.ts). */
  queue: string;
  correlation_id: string;
  artifact_seq: number;
  artifact_id: string;
  /** Of the artifact in its correlation, from 1. */
  sequence: number;
  state: DeliveryState;
  /** 0, or -1 in the background, where deliveries to the same target come after others. */
  priority: number;
  /** The try that runs or comes next, from 1. */
  attempt: number;
  /** Of this try, by its last claim; while it is pending, when it was last claimed or sent again by hand. */
  attempt_started_at: Generated<number | null>;
  /** The retry timer of a pending one; null where it may be claimed now. */
  available_at: Generated<number | null>;
  /** As those of executions. */
  lease_token: Generated<string | null>;
  lease_owner: Generated<string | null>;
  lease_until: Generated<number | null>;
  claim: Generated<number | null>;
  lost_leases: number;
  /** What published its artifact, in its correlation's trace; null where nothing was traced. */
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
  /** From 1; sending again by hand begins anew. */
  attempt: number;
  started_at: number;
  duration_ms: number;
  /** Null where no answer came. */
  status: number | null;
  /** Null where it was delivered. */
  error: string | null;
}

export interface ProgramVersionsTable {
  migration: string;
  /** The oldest program that may still run on the schema after this migration. */
  oldest_program: string;
  migrated_at: Generated<string>;
}
