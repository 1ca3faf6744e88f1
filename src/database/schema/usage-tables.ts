import type { Generated } from 'kysely';

/** Model usage of agents and its limits. */
export interface UsageTables {
  usage: UsageTable;
  deleted_usage: DeletedUsageTable;
  budget_reservations: BudgetReservationsTable;
  tool_calls: ToolCallsTable;
}

/** Sums of model usage. */
export interface UsageSums {
  input_tokens: Generated<number>;
  output_tokens: Generated<number>;
  /** In the currency of the configured prices. Null if none of the models that were used has a price. */
  cost: Generated<number | null>;
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
  /** How many of the tokens are input. */
  input_tokens: number;
  /** The model's name in the configuration. */
  model: string;
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
