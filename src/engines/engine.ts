import type { Logger } from 'pino';
import type { AgentDefinition } from '../catalog/definitions.js';
import type { EngineChecks, EngineKind } from '../catalog/configuration-file/engine-kind.js';
import type { Clock } from '../common/clock.js';
import type { JsonObject } from '../common/json.js';
import type { ExpressionEvaluator } from '../cel/evaluator.js';
import type { Outbound } from '../http-client/outbound.js';
import type { SharedResources } from './shared-resources.js';

/** An artifact as agents see it: the wire's field names, so that code and CEL read the same. */
export interface AgentArtifact {
  id: string;
  type: string;
  payload: JsonObject;
  tags: string[];
  produced_by: string;
  correlation_id: string;
  partition_key: string | null;
  version: number;
  /** UTC ISO 8601 with milliseconds. */
  created_at: string;
}

export interface BlackboardFilter {
  type?: string[];
  produced_by?: string[];
  correlation_id?: string;
  tag?: string[];
  /** 1 to 500, default 50. */
  limit?: number;
  order?: 'asc' | 'desc';
}

/** What an agent may read of the blackboard: only artifacts that it may see. */
export interface BlackboardReader {
  get(id: string): Promise<AgentArtifact | null>;
  list(filter?: BlackboardFilter): Promise<AgentArtifact[]>;
}

export interface ExecutionContext {
  /** The same on every attempt: usable as an idempotency key for effects outside. */
  executionId: string;
  correlationId: string;
  /** From 1. */
  attempt: number;
  /** Names this attempt to services that it calls (W3C Trace Context): to be sent along as header `traceparent`. Null where nothing is traced. */
  traceparent: string | null;
  /** Aborted on timeout, cancel and shutdown. */
  signal: AbortSignal;
  logger: Logger;
  blackboard: BlackboardReader;
}

/** What a call of a model took, or a part of it. */
export interface ModelUsage {
  /** As the configuration names it. */
  model: string;
  inputTokens: number;
  outputTokens: number;
  /** In the currency of the configured prices; null where the model has none. */
  cost: number | null;
  latencyMs: number;
}

/** What a call of a model may take at most. */
export interface ModelNeed {
  /** As the configuration names it. */
  model: string;
  /** Estimated. */
  inputTokens: number;
  outputTokens: number;
  /** As of ModelUsage. */
  cost: number | null;
}

/** One call of a tool. Neither what it was asked nor what it answered: both may quote what is secret. */
export interface ToolCall {
  /** Where the tool is. */
  server: string;
  tool: string;
  /** Epoch ms when it began. */
  at: number;
}

export interface ToolCallEnd {
  /** `error`: the tool said that it could not; `failed`: no answer came. */
  outcome: 'ok' | 'error' | 'failed';
  durationMs: number;
  /** Of what the model was told, as UTF-8. */
  resultBytes: number;
}

/** What engines are given beside what agents' own code sees. */
export interface EngineContext extends ExecutionContext {
  /** Whoever shows it can end this attempt over the API, as long as it lasts: a secret. */
  leaseToken: string;
  /**
   * The newest artifacts that the agent may see of those that `filter` asks for, newest first and without those in `except`: as many as have
   * payloads of `mostCharacters` together. `isCut` where there are more that `filter` asks for.
   */
  newest(filter: BlackboardFilter, except: ReadonlySet<string>, mostCharacters: number): Promise<{ artifacts: AgentArtifact[]; isCut: boolean }>;
  /**
   * To be awaited before a text that came from outside is parsed: resolves when there is memory for what it becomes, until the attempt has
   * ended or the next text is told. Rejects where there never will be, and with the signal's reason.
   */
  parses(text: string): Promise<void>;
  /** Why this answer would be refused, as `blackboard/execution/outputs.ts` says it; null where it would not. */
  refusal(answer: unknown): string | null;
  /** To be told what calls of a model have taken as soon as that is known, whatever becomes of the attempt; calls of it add up. */
  used(usage: ModelUsage): void;
  /**
   * To be called before each call of a model by an agent that a budget holds for: resolves when there is room for it. Rejects where there
   * never will be, or where the attempt is to begin again when there is: it then has to end, in whatever way.
   */
  reserve(need: ModelNeed): Promise<void>;
  /**
   * To be called when that call has ended: what it did not take is free for others. `answered`: it takes what `used` was told, and where
   * that is nothing, all that was reserved. `refused`: the model generated nothing, so it takes nothing. A call for which this is not
   * called, because it was given up or broke off, takes all that was reserved. Never rejects.
   */
  settle(end: 'answered' | 'refused'): Promise<void>;
  /** To be told of each call of a tool when it begins, and by what this returns when it has ended. */
  calls(call: ToolCall): (end: ToolCallEnd) => void;
  /** To be told what is being written, piece by piece, for those who watch; `answer` counts, from 1, what the attempt begins to write. */
  wrote(text: string, answer: number): void;
}

/**
 * An agent's input artifacts in the order of their joining, and the one view of their payloads that docs/agents.md describes:
 * the payload itself for one artifact, a list for a batch window, an object keyed by type name for a join.
 */
export interface ExecutionInputs {
  artifacts: AgentArtifact[];
  view: unknown;
}

/**
 * One agent's engine, ready to run. Rejecting is a failed attempt; the error's message is shown to clients. Its `isFinal` says that no
 * other attempt is to be made, its `retryAfterMs` that none is before then.
 */
export interface PreparedEngine {
  /** The payload, a list of payloads, an object keyed by type name, ExplicitOutputs, DeferredCompletion, or null: see `blackboard/execution/outputs.ts`. */
  run(inputs: ExecutionInputs, context: EngineContext): Promise<unknown>;
}

/** What engines are made with. */
export interface EngineEnvironment extends EngineChecks {
  expressions: ExpressionEvaluator;
  shared: SharedResources;
  outbound: Outbound;
  clock: Clock;
  /** The one instance of an agent class that the application made. */
  instanceOf(agentClass: AgentClass): RunnableAgent;
}

/** A kind of engine: how agents turn input artifacts into outputs. It keeps nothing; what runs is what it prepares. */
export interface Engine extends EngineKind {
  /** Called once an agent, at start, after `check` found nothing wrong. */
  prepare(agent: AgentDefinition, environment: EngineEnvironment): Promise<PreparedEngine>;
}

/** An agent that is written as a class (see `@Agent`). */
export interface RunnableAgent {
  /** Answers like every engine; throwing is a failed attempt, and the error's message is shown to clients. */
  execute(inputs: AgentArtifact[], context: ExecutionContext): unknown;
}

export type AgentClass = new (...dependencies: never[]) => RunnableAgent;

/** Prepared engines by agent name; filled once at start. */
export class PreparedEngines {
  constructor(private readonly byAgent: ReadonlyMap<string, PreparedEngine>) {}

  for(agent: string): PreparedEngine | undefined {
    return this.byAgent.get(agent);
  }
}
