import type { JsonObject } from '../common/json.js';
import type { ScheduleOptions } from './schedules/schedule.js';
import type { Visibility } from './visibility.js';

/**
 * The options of an agent in the configuration file or in `@Agent({...})`. Durations are strings such as `500ms`,
 * `30s`, `5m`, `2h` or `30d`.
 */
export interface AgentOptions {
  description?: string;
  /** Labels that `Labelled` visibility may require. */
  labels?: string[];
  tenant_id?: string;
  consumes: SubscriptionOptions[];
  publishes?: OutputOptions[];
  /** Time limit of one attempt. Default `60s`. */
  timeout?: string;
  /** Executions that may run at the same time, over all processes. Default 10. */
  concurrency?: number;
  /** Default: 3 attempts, the second after `1s`; the delay doubles up to `1m`. */
  retry?: { attempts?: number; delay?: string; max_delay?: string };
  /** Maximum model usage of the agent in one correlation. Exceeding it ends the correlation. */
  budget?: BudgetOptions;
  /** Limits of the configuration file that its executions share with those of other agents. */
  limits?: (string | LimitUseOptions)[];
  /** CEL over the inputs. Executions with different keys take turns. Default: they start by priority and age. */
  fair_by?: string;
  /** CEL over the inputs, for `fair_by`: how many turns a key has for each turn of others. Default 1. */
  weight?: string;
  /** For `fair_by`: the share of `max_pending_executions` that one key may have waiting, such as `50%` or 0.5. Default 0.5. */
  max_share?: number | string;
  /** Cancels its executions whose `key`, CEL over their inputs, equals that of an artifact of one of these types. */
  cancel_on?: { types: string[]; key: string };
  /** For how long an execution takes the answer of an earlier one. `key` is CEL over the inputs. Default: their types and payloads. */
  cache?: { for: string; key?: string };
  /** One execution of each `key`, CEL over the inputs, runs at a time. `on_conflict` says what happens to another one. */
  singleton?: { key: string; on_conflict: 'skip' | 'cancel_running' | 'queue' };
  /** Its executions wait for `open` when `failures`, such as `50%`, of the last `of` attempts have failed, for each `key`, CEL over the inputs. */
  breaker?: { failures: string; of: number; open: string; key?: string };
}

/** How an agent of the file tries other options of its engine. */
export interface RampOptions {
  /** Other options of the engine, by the name of the variant, each for a share of the correlations. */
  variants?: Record<string, VariantOptions>;
  /** A variant is used no more when `failures`, such as `5%`, of its last `of` attempts have failed. Default: never. */
  rollback?: { failures: string; of: number };
}

/** At least one option besides `share`, such as `10%`. */
export interface VariantOptions {
  share: string;
  expression?: string;
  instructions?: string;
  temperature?: number;
  max_output_tokens?: number;
  model?: string;
}

/** `key` is CEL over the inputs: executions with equal keys share the limit. Default: the limit's own `key`. */
export interface LimitUseOptions {
  name: string;
  key?: string;
}

/** At least one of `concurrency` and `rate`. */
export interface LimitOptions {
  /** Executions that may run at the same time for each key, over all processes. */
  concurrency?: number;
  /** Attempts that may start for each key, such as `60/m` or `5/10s`. */
  rate?: string;
  /** Units that may start together after a pause. Default 1, or the count of the rate if `units` is set. */
  burst?: number;
  /** CEL over the inputs: what one attempt costs. Default 1. */
  units?: string;
  /** Whether an execution that has started counts for `concurrency` until it ends, also while it waits. Default false. */
  hold?: boolean;
  /** CEL over the inputs. Executions with equal keys share the limit. Default: all executions share it. */
  key?: string;
}

/** At least one of the two. `tokens` counts input and output together; `cost` is in the currency of the prices. */
export interface BudgetOptions {
  tokens?: number;
  cost?: number;
}

export interface SubscriptionOptions {
  types: string[];
  /** `all` (default): joins one artifact of every type. `any`: takes each artifact separately. */
  mode?: 'all' | 'any';
  /** CEL. The agent runs only if it is true. */
  where?: string;
  /** Artifacts by any of these producers. `external` means clients. */
  from_agents?: string[];
  /** Artifacts with any of these tags. */
  tags?: string[];
  /** `by` is CEL. Without it artifacts join by their correlation. */
  join?: { by?: string; within?: string };
  /** `size`, `timeout` or both. `key` is CEL over one artifact: each key has its own window. */
  batch?: { size?: number; timeout?: string; key?: string };
  /**
   * Runs with the last artifact of each `key`, CEL over one artifact, when none has come for `wait`, or `at_most` after the
   * first. Default: all artifacts have one key.
   */
  debounce?: { wait: string; at_most: string; key?: string };
  /** Executions with a higher priority run first: a whole number, or CEL over the inputs. Default 0. */
  priority?: number | string;
  allow_self?: boolean;
}

export interface OutputOptions {
  type: string;
  visibility?: Visibility;
  tags?: string[];
}

/** The whole configuration file. */
export interface ConfigurationOptions {
  server?: Record<string, unknown>;
  /** Prices of models by name, and the maximum tokens of one answer. */
  models?: Record<string, { input_per_million: number; output_per_million: number; max_output_tokens?: number }>;
  /** Maximum model usage of one correlation. Exceeding it ends the correlation. */
  budget?: BudgetOptions;
  types?: Record<
    string,
    { version?: number; description?: string; schema?: JsonObject; defaults?: boolean; retain?: string }
  >;
  agents?: Record<string, AgentOptions & RampOptions & { engine: { kind: string } & Record<string, unknown> }>;
  limits?: Record<string, LimitOptions>;
  schedules?: Record<string, ScheduleOptions>;
}

/** The type of a `T` after everything that its schema refuses has been removed. */
export type Remaining<T> = T extends JsonObject
  ? T
  : T extends readonly (infer Item)[]
    ? (Remaining<Item> | undefined)[]
    : T extends object
      ? { [Key in keyof T]?: Remaining<T[Key]> }
      : T;
