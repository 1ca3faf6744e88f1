import type { JsonObject } from '../common/json.js';
import type { Visibility } from './visibility.js';

/**
 * An agent as it is written down, in the configuration file or in `@Agent({...})`. Durations are texts such as `500ms`,
 * `30s`, `5m`, `2h` or `30d`.
 */
export interface AgentOptions {
  description?: string;
  /** What `Labelled` visibility asks for. */
  labels?: string[];
  tenant_id?: string;
  consumes: SubscriptionOptions[];
  publishes?: OutputOptions[];
  /** For one attempt; default `60s`. */
  timeout?: string;
  /** Executions that may run at the same time, over all processes; default 10. */
  concurrency?: number;
  /** Default: 3 attempts in all, after `1s`, doubling to `1m`. */
  retry?: { attempts?: number; delay?: string; max_delay?: string };
  /** What the agent may use of models in one correlation; more ends it. */
  budget?: BudgetOptions;
}

/** At least one of the two: tokens, read and written together; cost, in the currency of the prices. */
export interface BudgetOptions {
  tokens?: number;
  cost?: number;
}

export interface SubscriptionOptions {
  types: string[];
  /** `all` (default): one artifact of every type, joined. `any`: each artifact on its own. */
  mode?: 'all' | 'any';
  /** CEL; only true triggers. */
  where?: string;
  /** Producers, any of which will do; `external` is what clients publish. */
  from_agents?: string[];
  /** Artifacts with any of these tags. */
  tags?: string[];
  /** `by` is CEL; without it artifacts join by their correlation. */
  join?: { by?: string; within?: string };
  /** At least one of the two. */
  batch?: { size?: number; timeout?: string };
  /** Executions with a higher priority run first; default 0. */
  priority?: number;
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
  /** What models cost, by their names, and the most that they write in one answer. */
  models?: Record<string, { input_per_million: number; output_per_million: number; max_output_tokens?: number }>;
  /** What one correlation may use of models; more ends it. */
  budget?: BudgetOptions;
  types?: Record<string, { version?: number; description?: string; schema?: JsonObject; retain?: string }>;
  agents?: Record<string, AgentOptions & { engine: { kind: string } & Record<string, unknown> }>;
}

/** What is left of a `T` when everything that its schema refuses has been taken out. */
export type Remaining<T> = T extends JsonObject
  ? T
  : T extends readonly (infer Item)[]
    ? (Remaining<Item> | undefined)[]
    : T extends object
      ? { [Key in keyof T]?: Remaining<T[Key]> }
      : T;
