import type { Subscription } from '../../catalog/definitions.js';
import type { Visibility } from '../../catalog/visibility.js';
import type { JsonObject } from '../../common/json.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { Span } from '../../observability/tracing/tracing.js';
import type { ArtifactDraft } from '../artifacts/artifact-writer.js';
import type { Item } from '../queries/stored-pieces.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';

/** What a feature stores together with what a client publishes. */
export interface PublishCompanion {
  /** Held from the transaction's beginning (`Transaction.lock`). */
  names: readonly string[];
  /** Called once the transaction holds the correlation; not where the artifact is stored already. A DomainError undoes the publish. */
  store(tx: Transaction, correlation: TrackedCorrelation): Promise<void>;
}

export interface Publication {
  /** Fixed beforehand by an idempotency key; where an artifact of this id is stored already, nothing is stored again. */
  artifactId: string;
  correlationId: string;
  type: string;
  payload: JsonObject;
  tags: string[];
  partitionKey: string | null;
  visibility: Visibility;
  companion?: PublishCompanion;
  /** What follows from it is cancelled so many milliseconds later, unless it has ended; never where absent or null. */
  deadlineMs?: number | null;
}

export interface Published {
  artifactId: string;
  correlationId: string;
  /** Position of the published artifact. */
  seq: number;
  /** The generation of the correlation that this publish belongs to; what a waiter waits for the end of. */
  generation: number;
}

/** One execution of one agent alone, which is stored. */
export interface DirectRun {
  agent: string;
  correlationId: string;
  executionId: string;
  generation: number;
}

/** How much of what waited was ended. */
export interface Ended {
  executions: number;
  /** Join groups and batch windows. */
  groups: number;
}

/** One execution of an agent that the caller named, checked and ready to be stored. */
export interface Invocation {
  subscription: Subscription;
  drafts: ArtifactDraft[];
  correlationId: string;
  /** No agent reacts to the outputs. */
  direct: boolean;
  /** Nobody waits for it: of equal priority, its workflow's executions come after others. */
  background: boolean;
  /** It is cancelled so many milliseconds after its begin; null for never. */
  deadlineMs: number | null;
  /** Of the request that it is prepared for. */
  cause: Span;
}

/** The one way into the core for the features. */
export abstract class Blackboard {
  /**
   * Stores an artifact and everything it triggers in one transaction; resolves after its commit.
   * DomainError: `invalid` (unknown type, payload that its schema refuses), `conflict` (closed correlation),
   * `unavailable` (too much work waiting, database cannot write).
   */
  abstract publish(publication: Publication): Promise<Published>;

  /**
   * Resolves true when this generation of the correlation has settled (at once if it has), false when `timeoutMs` have
   * passed or `signal` is aborted before.
   */
  abstract waitUntilSettled(correlationId: string, generation: number, timeoutMs: number): Promise<boolean>;

  /**
   * One execution of one agent on the given inputs; no agent reacts to its outputs. Resolves when it is stored.
   * DomainError: `not_found` (unknown agent), `invalid` (inputs that fit none of its subscriptions or their type's
   * schema), `unavailable`.
   */
  abstract beginDirectRun(agent: string, inputs: { type: string; payload: JsonObject }[], correlationId: string): Promise<DirectRun>;

  /**
   * What a direct run has published, as items of an answer, when it has ended. DomainError: `agent_failed` (its text names agent and reason),
   * `unavailable` where the process stops before.
   */
  abstract outputsOf(run: DirectRun): Promise<Item[]>;

  /**
   * Checks what is to start a workflow with a named agent: `inputs` as Interface A gives them (wire-decisions.md), the first
   * of them under the id `firstId`. DomainError: `not_found` (unknown agent), `invalid` (inputs that fit none of its
   * subscriptions or their type's schema).
   */
  abstract prepareRun(agent: string, inputs: JsonObject, correlationId: string, how: { firstId: string; background: boolean; deadlineMs?: number | null }): Invocation;

  /**
   * Stores a prepared invocation with a correlation of its own. DomainError: `conflict` where the correlation exists.
   * Whether the service takes more work is asked by `refuseWhenBusy`, before.
   */
  abstract begin(tx: Transaction, invocation: Invocation): Promise<{ executionId: string; generation: number }>;

  /** Takes a correlation id out of use, for what failed before anything was published. `conflict` where it is in use. */
  abstract beginFailed(tx: Transaction, correlationId: string): Promise<void>;

  /**
   * Cancels a correlation in one transaction: nothing of it starts any more, its leases are revoked, it is closed. Engines
   * that run are not waited for. DomainError: `not_found`, `conflict` (it has ended already).
   */
  abstract cancel(tx: Transaction, correlationId: string): Promise<void>;

  /** Cancels those of these correlations that have not ended, all in the caller's transaction. */
  abstract cancelOpen(tx: Transaction, correlationIds: readonly string[]): Promise<void>;

  /**
   * An execution that has failed for good is to run again from its first attempt, on the same inputs; its correlation opens again if
   * it has settled. What its failure left, its WorkflowError among it, stays. DomainError `not_found`, `conflict` (it has not failed,
   * its correlation is closed, its agent or its inputs are gone).
   */
  abstract retryExecution(tx: Transaction, executionId: string): Promise<void>;

  /**
   * Fails what waits for an agent that no live process has: its executions, and groups of subscriptions that none has, be it of an agent
   * that one has. Nothing waits again by itself, and what is left by a crash is ended by another call. DomainError `conflict` (a live
   * process has the agent, and nothing waits for a subscription that none has), `not_found` (nothing of such an agent is stored), `unavailable`.
   */
  abstract failWithoutAgent(agent: string): Promise<Ended>;

  /** Whether no live process has an agent of this name, so that what is to be done by it waits. */
  abstract isWithoutProcess(agent: string): Promise<boolean>;

  /**
   * From its commit on, no execution of this agent starts on any process that works on this database; what runs goes on, and what
   * waits keeps its correlation open. Since when it is paused (epoch ms). DomainError `not_found` (no process has such an agent).
   */
  abstract pauseAgent(tx: Transaction, name: string): Promise<number>;

  /** What waits of this agent may start again, at once. DomainError `not_found` (no process has such an agent). */
  abstract resumeAgent(tx: Transaction, name: string): Promise<void>;

  /** By name, since when an agent is paused (epoch ms). */
  abstract pausedAgents(): Promise<ReadonlyMap<string, number>>;

  /** DomainError `unavailable` where so much waits, or the service stops, that no more work may be accepted. */
  abstract refuseWhenBusy(): Promise<void>;

  /** False once shutting down, or while the executor cannot work; `reason` says why. */
  abstract health(): { ok: boolean; reason?: string };

  /** Executions waiting to be claimed, by this process's own count. */
  abstract waitingExecutions(): number;

  /** Artifacts that wait in joins, in batch windows or for their release, by this process's own count. */
  abstract waitingArrivals(): number;
}
