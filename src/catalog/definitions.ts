import type { JsonObject } from '../common/json.js';
import type { Budget } from './costs.js';
import type { Path } from './diagnostics.js';
import type { GrowthLimit } from './growth-limit.js';
import type { LimitUse } from './limits.js';
import type { Variants } from './variants.js';
import type { Visibility } from './visibility.js';

/** An artifact type: a name, a version and a JSON Schema for payloads. */
export interface ArtifactType {
  name: string;
  version: number;
  description: string;
  /** Null if the type has no schema. Then any object is valid. */
  schema: JsonObject | null;
  /** Minimum time that its artifacts are kept (ms). Null keeps them forever. */
  retainMs: number | null;
  /**
   * Fills in the defaults of the schema, if the type has this option, and checks the payload. Never changes `payload`.
   * `place`: its place in a request, for messages; `payload` if it is missing.
   */
  accept(payload: unknown, limit: GrowthLimit, place?: Path): AcceptedPayload;
}

/** `payload` is the same object if nothing was filled in. `problem` lists the problems with their paths. */
export type AcceptedPayload = { payload: JsonObject } | { problem: string };

/** Which artifacts trigger an agent. All defaults of the configuration are filled in. */
export interface Subscription {
  agent: string;
  /** Index in the agent's `consumes`, from 0. */
  index: number;
  types: string[];
  mode: 'all' | 'any';
  /** CEL. Null triggers on every artifact. */
  where: string | null;
  /** Artifacts by any of these producers. Empty means every producer. */
  fromAgents: string[];
  /** Artifacts with any of these tags. Empty sets no condition. */
  tags: string[];
  /** Set if `mode` is `all` with several types. `by` is CEL; null joins by correlation id. */
  join: { by: string | null; withinMs: number | null } | null;
  /**
   * `size` has a bound even if the configuration sets none, because a window is loaded as a whole. `key` is CEL over one
   * artifact: each key has its own window; null: one window takes all.
   */
  batch: { size: number; timeoutMs: number | null; key: string | null } | null;
  /**
   * The last artifact of each key runs when none has come for `waitMs`, and at most `atMostMs` after the first. `key` is CEL
   * over one artifact; null: all have the same.
   */
  debounce: { waitMs: number; atMostMs: number; key: string | null } | null;
  /** Executions with a higher priority run first. */
  priority: number;
  /** CEL over the inputs: the priority of an execution, instead of `priority`. Null: all have the same. */
  priorityBy: string | null;
  allowSelf: boolean;
}

/** Priorities are whole numbers from minus this to this. */
export const MOST_PRIORITY = 1_000_000;

/** The largest batch window. */
export const MAX_BATCH_SIZE = 10_000;

export interface Output {
  type: string;
  visibility: Visibility;
  tags: string[];
}

export interface RetryPolicy {
  /** Number of attempts, including the first. */
  attempts: number;
  delayMs: number;
  maxDelayMs: number;
}

export interface AgentDefinition {
  name: string;
  description: string;
  labels: string[];
  tenantId: string | null;
  subscriptions: Subscription[];
  outputs: Output[];
  /** Opaque in the catalog. The engine of this kind checks and reads it. */
  engine: { kind: string } & Record<string, unknown>;
  timeoutMs: number;
  /** Executions that may run at the same time, over all processes. */
  concurrency: number;
  retry: RetryPolicy;
  /** The budget in one correlation. */
  budget: Budget | null;
  limits: LimitUse[];
  /** Null: executions start by priority and age. */
  fairness: Fairness | null;
  cancelOn: CancelRule | null;
  cache: CacheRule | null;
  singleton: SingletonRule | null;
  breaker: BreakerRule | null;
  variants: Variants | null;
}

/** When failed attempts keep further executions of an agent waiting. */
export interface BreakerRule {
  /** The breaker opens when this many of the last `of` attempts have failed. */
  failures: number;
  of: number;
  /** No execution starts for this long. Then one attempt decides. */
  openMs: number;
  /** CEL over the inputs of an execution: each key has its own breaker. Null: all executions share one. */
  key: string | null;
}

/** The most attempts that a breaker remembers. */
export const MOST_ATTEMPTS_OF_BREAKER = 1_000;

/** At most one execution of each key has its turn. */
export interface SingletonRule {
  /** CEL over the inputs of an execution: its key. */
  key: string;
  onConflict: OnConflict;
}

/** The decision about an execution while another one with its key has not ended. */
export const ON_CONFLICT = ['skip', 'cancel_running', 'queue'] as const;

export type OnConflict = (typeof ON_CONFLICT)[number];

/** When an execution takes the answer of an earlier one of the same agent. */
export interface CacheRule {
  /** How long an answer is used. */
  forMs: number;
  /** CEL over the inputs. Null: the types and the payloads of the inputs are the key. */
  key: string | null;
}

/** Which artifacts cancel executions of an agent. */
export interface CancelRule {
  types: string[];
  /** CEL over the inputs of an execution, or over the artifact alone. Equal keys cancel. */
  key: string;
}

export const LEAST_WEIGHT = 0.001;
export const MOST_WEIGHT = 1_000;

/** How the executions of an agent take turns by a key. */
export interface Fairness {
  /** CEL over the inputs of an execution: its key. */
  by: string;
  /** CEL over the inputs: how many turns a key has for each turn of a key with weight 1. Null: 1. */
  weight: string | null;
  /** The share of `max_pending_executions` that one key may have waiting, from 0 to 1. */
  maxShare: number;
}

export const WORKFLOW_ERROR = 'WorkflowError';
/** The `produced_by` of artifacts that clients publish. */
export const EXTERNAL = 'external';
/** The `produced_by` of artifacts that schedules publish. */
export const SCHEDULE = 'schedule';
/** The producers that are not agents. Their artifacts begin work, and are not outputs of it. */
export const OUTSIDE: readonly string[] = [EXTERNAL, SCHEDULE];
