import type { JsonObject } from '../common/json.js';
import type { Budget } from './costs.js';
import type { Visibility } from './visibility.js';

/** A name, a version and a JSON Schema for payloads. */
export interface ArtifactType {
  name: string;
  version: number;
  description: string;
  /** Null where the type is only mentioned by agents: then any object fits. */
  schema: JsonObject | null;
  /** How long its artifacts are kept at least (ms); null keeps them for ever. */
  retainMs: number | null;
  /** What is wrong with a payload, with its path; null where it fits. */
  check(payload: unknown): string | null;
}

/** Which artifacts trigger an agent. All optional parts of the configuration are filled in here. */
export interface Subscription {
  agent: string;
  /** Its place in the agent's `consumes`, from 0. */
  index: number;
  types: string[];
  mode: 'all' | 'any';
  /** CEL; null triggers on every artifact. */
  where: string | null;
  /** Producers, any of which will do; empty means every producer. */
  fromAgents: string[];
  /** Artifacts with any of these tags; empty means no tag is asked for. */
  tags: string[];
  /** Set where `mode` is `all` with several types. `by` is CEL; null joins by correlation id. */
  join: { by: string | null; withinMs: number | null } | null;
  /** `size` is bounded also where the configuration gives none, since a window is loaded as a whole. */
  batch: { size: number; timeoutMs: number | null } | null;
  /** Executions with a higher priority run first. */
  priority: number;
  allowSelf: boolean;
}

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
  /** Opaque here; the engine of this kind checks and reads it. */
  engine: { kind: string } & Record<string, unknown>;
  timeoutMs: number;
  /** Executions that may run at the same time, over all processes. */
  concurrency: number;
  retry: RetryPolicy;
  /** In one correlation. */
  budget: Budget | null;
}

export const WORKFLOW_ERROR = 'WorkflowError';
/** `produced_by` of what a client publishes. */
export const EXTERNAL = 'external';
