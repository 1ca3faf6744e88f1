import type { Logger } from 'pino';

import type { EngineChecks, EngineKind } from '../catalog/configuration-file/engine-kind.js';
import type { AgentDefinition } from '../catalog/definitions.js';
import type { ExpressionEvaluator } from '../cel/evaluator.js';
import type { Clock } from '../common/clock.js';
import type { JsonObject } from '../common/json.js';
import type { Outbound } from '../http-client/outbound.js';
import type { SharedResources } from './shared-resources.js';

/** An artifact as agents see it, with the field names of the wire, so that code and CEL use the same names. */
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

/** Reads the blackboard for an agent. It returns only artifacts that the agent may see. */
export interface BlackboardReader {
  get(id: string): Promise<AgentArtifact | null>;
  list(filter?: BlackboardFilter): Promise<AgentArtifact[]>;
}

export interface ExecutionContext {
  /** The same for every attempt, so it can serve as an idempotency key for effects outside of Starling. */
  executionId: string;
  correlationId: string;
  /** Starts at 1. */
  attempt: number;
  /**
   * Identifies this attempt to the services that it calls (W3C Trace Context). Send it as the header `traceparent`.
   * Null if tracing is off, and if an agent that only computes runs before its execution is stored.
   */
  traceparent: string | null;
  /** Aborted on timeout, cancel and shutdown. */
  signal: AbortSignal;
  logger: Logger;
  blackboard: BlackboardReader;
}

/** Usage of a model call, or of a part of it. */
export interface ModelUsage {
  /** The model's name in the configuration. */
  model: string;
  inputTokens: number;
  outputTokens: number;
  /** In the currency of the configured prices. Null if the model has no price. */
  cost: number | null;
  latencyMs: number;
}

/** Maximum usage of a model call. */
export interface ModelNeed {
  /** The model's name in the configuration. */
  model: string;
  /** An estimate. */
  inputTokens: number;
  outputTokens: number;
  /** See ModelUsage. */
  cost: number | null;
}

/** One tool call. It contains neither arguments nor result, because both may quote secrets. */
export interface ToolCall {
  /** The name of the tool's server. */
  server: string;
  tool: string;
  /** Epoch ms when it began. */
  at: number;
}

export interface ToolCallEnd {
  /** `error`: the tool reported an error. `failed`: no answer came. */
  outcome: 'ok' | 'error' | 'failed';
  durationMs: number;
  /** Bytes (UTF-8) of the result that the model received. */
  resultBytes: number;
}

/** The context of engines. Agents' own code gets only the fields of ExecutionContext. */
export interface EngineContext extends ExecutionContext {
  /** A secret: with this token anyone can end this attempt over the API while it lasts. */
  leaseToken: string;
  /**
   * Returns the newest artifacts that match `filter` and that the agent may see, newest first, without those in
   * `except`. It returns as many as have payloads of `mostCharacters` together. `isCut` is true if more artifacts
   * match.
   */
  newest(
    filter: BlackboardFilter,
    except: ReadonlySet<string>,
    mostCharacters: number,
  ): Promise<{ artifacts: AgentArtifact[]; isCut: boolean }>;
  /**
   * Await this before parsing a text from outside. Resolves when memory for the parsed value is reserved; the
   * reservation lasts until the next call or the end of the attempt. Rejects if the text can never fit, and with the
   * signal's reason.
   */
  parses(text: string): Promise<void>;
  /**
   * Returns why this answer would be refused (see `blackboard/execution/outputs.ts`), or null if it would be accepted.
   */
  refusal(answer: unknown): string | null;
  /** Call this as soon as the usage of a model call is known, even if the attempt then fails. Calls add up. */
  used(usage: ModelUsage): void;
  /**
   * Call this before each model call of an agent with a budget. Resolves when the budget has room. Rejects if it never
   * will, or if the attempt must start again when there is room; the attempt must then end.
   */
  reserve(need: ModelNeed): Promise<void>;
  /**
   * Call this when that model call has ended; the rest of the reservation becomes free. `answered`: it uses what `used`
   * reported, or the whole reservation if nothing was reported. `refused`: the model generated nothing, so it uses
   * nothing. A call without `settle`, because it was aborted or broke off, uses the whole reservation. Never rejects.
   */
  settle(end: 'answered' | 'refused'): Promise<void>;
  /** Call this when a tool call begins, and the returned function when it ends. */
  calls(call: ToolCall): (end: ToolCallEnd) => void;
  /**
   * Call this with each piece of text that the model writes, for streams. `answer` is the number of the answer in this
   * attempt, from 1.
   */
  wrote(text: string, answer: number): void;
}

/**
 * An agent's input artifacts (those of a join in the order of its types) and the view of their payloads: the payload
 * for one artifact, a list for a batch window, an object keyed by type name for a join.
 */
export interface ExecutionInputs {
  artifacts: AgentArtifact[];
  view: unknown;
}

/**
 * The engine of one agent, ready to run. A rejection is a failed attempt, and clients see the error's message.
 * `isFinal` on the error prevents further attempts, and `retryAfterMs` delays the next one.
 */
export interface PreparedEngine {
  /**
   * Resolves with the payload, a list of payloads, an object keyed by type name, ExplicitOutputs, DeferredCompletion,
   * or null: see `blackboard/execution/outputs.ts`.
   */
  run(inputs: ExecutionInputs, context: EngineContext): Promise<unknown>;

  /**
   * Runs the agent before its execution is stored, and returns what `run` would resolve with. Null if it is known to take longer than
   * about a millisecond, or to fail. Only engines that can affect nothing outside have this: Starling may drop the answer and
   * run the agent again.
   */
  runInline?(inputs: ExecutionInputs, contextOf: () => ExecutionContext): InlineAnswer | Promise<InlineAnswer> | null;
}

export interface InlineAnswer {
  answer: unknown;
}

/** The dependencies of engines. */
export interface EngineEnvironment extends EngineChecks {
  expressions: ExpressionEvaluator;
  shared: SharedResources;
  outbound: Outbound;
  clock: Clock;
  /** For what belongs to no execution. */
  logger: Logger;
  /** Returns the application's single instance of an agent class. */
  instanceOf(agentClass: AgentClass): RunnableAgent;
}

/** A kind of engine: it turns input artifacts into outputs. It has no state; the prepared engines run. */
export interface Engine extends EngineKind {
  /** Called once for each agent at start, after `check` found no error. */
  prepare(agent: AgentDefinition, environment: EngineEnvironment): Promise<PreparedEngine>;
}

/** An agent that is a class (see `@Agent`). */
export interface RunnableAgent {
  /** Returns the same values as any engine. An error is a failed attempt, and clients see its message. */
  execute(inputs: AgentArtifact[], context: ExecutionContext): unknown;
}

export type AgentClass = new (...dependencies: never[]) => RunnableAgent;

/** Prepared engines by agent name, complete after the start. */
export class PreparedEngines {
  constructor(
    private readonly byAgent: ReadonlyMap<string, PreparedEngine>,
    /** By the name of the agent, and then by that of the variant. */
    private readonly ofVariants: ReadonlyMap<string, ReadonlyMap<string, PreparedEngine>> = new Map(),
  ) {}

  for(agent: string): PreparedEngine | undefined {
    return this.byAgent.get(agent);
  }

  forVariant(agent: string, variant: string): PreparedEngine | undefined {
    return this.ofVariants.get(agent)?.get(variant);
  }
}
