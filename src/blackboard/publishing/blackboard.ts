import type { Subscription } from '../../catalog/definitions.js';
import type { Visibility } from '../../catalog/visibility.js';
import type { JsonObject } from '../../common/json.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { Span } from '../../observability/tracing/tracing.js';
import type { ArtifactDraft } from '../artifacts/artifact-writer.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import type { Item } from '../queries/stored-pieces.js';

/** Rows that a feature stores in the same transaction as a client's artifact. */
export interface PublishCompanion {
  /** Names that the transaction locks when it begins (`Transaction.lock`). */
  names: readonly string[];
  /**
   * Called when the transaction has locked the correlation, unless the artifact is already stored. A DomainError undoes
   * the publish.
   */
  store(tx: Transaction, correlation: TrackedCorrelation): Promise<void>;
}

export interface Publication {
  /**
   * An idempotency key may fix it beforehand. If an artifact with this id is already stored, nothing is stored again.
   */
  artifactId: string;
  correlationId: string;
  type: string;
  payload: JsonObject;
  tags: string[];
  partitionKey: string | null;
  visibility: Visibility;
  companion?: PublishCompanion;
  /** Milliseconds until the correlation is cancelled, unless it has settled by then. Absent or null: no deadline. */
  deadlineMs?: number | null;
}

export interface Published {
  artifactId: string;
  correlationId: string;
  /** Position of the published artifact. */
  seq: number;
  /** The generation of the correlation that this publish belongs to; `waitUntilSettled` takes it. */
  generation: number;
}

/** A stored execution of one agent whose outputs trigger no agent. */
export interface DirectRun {
  agent: string;
  correlationId: string;
  executionId: string;
  generation: number;
}

/** How many waiting executions and groups were ended. */
export interface Ended {
  executions: number;
  /** Join groups and batch windows. */
  groups: number;
}

/** An execution of an agent that the caller named. Its inputs are checked and ready to be stored. */
export interface Invocation {
  subscription: Subscription;
  drafts: ArtifactDraft[];
  correlationId: string;
  /** The outputs trigger no agent. */
  direct: boolean;
  /** No client waits for it: among executions of equal priority, those of its correlation run last. */
  background: boolean;
  /** Milliseconds from its beginning until it is cancelled; null: no deadline. */
  deadlineMs: number | null;
  /** The span of the request that it is prepared for. */
  cause: Span;
  /** Memory that the defaults in its inputs take (bytes), besides that of the request. */
  grownBytes: number;
}

/** The only interface through which features change the blackboard. */
export abstract class Blackboard {
  /**
   * Stores an artifact and everything it triggers in one transaction; resolves after its commit. DomainError: `invalid`
   * (unknown type, or a payload that does not match its schema), `conflict` (closed correlation), `unavailable` (too
   * much work is waiting, or the database cannot be written to).
   */
  abstract publish(publication: Publication): Promise<Published>;

  /**
   * Resolves true when this generation of the correlation has settled, and false if `timeoutMs` pass or the process
   * stops before.
   */
  abstract waitUntilSettled(correlationId: string, generation: number, timeoutMs: number): Promise<boolean>;

  /**
   * Stores one execution of the agent on these inputs; its outputs trigger no agent. Resolves after the commit.
   * DomainError: `not_found` (unknown agent), `invalid` (the inputs match no subscription, or a payload does not match
   * its schema), `unavailable`.
   */
  abstract beginDirectRun(
    agent: string,
    inputs: { type: string; payload: JsonObject }[],
    correlationId: string,
  ): Promise<DirectRun>;

  /**
   * Waits until a direct run has ended, and returns what it published, as items of an answer. DomainError:
   * `agent_failed` (the message names agent and reason), `unavailable` if the process stops before.
   */
  abstract outputsOf(run: DirectRun): Promise<Item[]>;

  /**
   * Checks the inputs of a run that begins with a named agent, in the form of docs/api.md, "Run a workflow". The first
   * input's artifact gets the id `firstId`. DomainError: `not_found` (unknown agent), `invalid` (the inputs match no
   * subscription, or a payload does not match its schema).
   */
  abstract prepareRun(
    agent: string,
    inputs: JsonObject,
    correlationId: string,
    how: { firstId: string; background: boolean; deadlineMs?: number | null },
  ): Invocation;

  /**
   * Stores a prepared invocation with a new correlation. DomainError: `conflict` if the correlation exists. The caller
   * calls `refuseWhenBusy` first.
   */
  abstract begin(tx: Transaction, invocation: Invocation): Promise<{ executionId: string; generation: number }>;

  /**
   * Stores a closed, failed correlation for a run that failed before it published anything. `conflict` if the id is in
   * use.
   */
  abstract beginFailed(tx: Transaction, correlationId: string): Promise<void>;

  /**
   * Cancels a correlation in one transaction: its pending executions never start, its leases are revoked, and it is
   * closed. The transaction does not wait for running engines. DomainError: `not_found`, `conflict` (it has already
   * ended).
   */
  abstract cancel(tx: Transaction, correlationId: string): Promise<void>;

  /** Cancels every active one of these correlations in the caller's transaction. */
  abstract cancelOpen(tx: Transaction, correlationIds: readonly string[]): Promise<void>;

  /**
   * Queues a failed execution again, with its first attempt and the same inputs. Its correlation reopens if it has
   * settled. The artifacts of the failure, such as the WorkflowError, stay. DomainError: `not_found`, `conflict` (it
   * has not failed, its correlation is closed, no process has its agent, or its inputs have been deleted).
   */
  abstract retryExecution(tx: Transaction, executionId: string): Promise<void>;

  /**
   * Fails the executions that wait for an agent that no live process has, and the groups of its subscriptions that no
   * live process has, even if a process has the agent. After a crash, another call ends the rest. DomainError:
   * `conflict` (a live process has the agent and all subscriptions that groups wait for), `not_found` (nothing of this
   * agent is stored), `unavailable`.
   */
  abstract failWithoutAgent(agent: string): Promise<Ended>;

  /** Whether no live process has an agent with this name, so that its executions wait. */
  abstract isWithoutProcess(agent: string): Promise<boolean>;

  /**
   * Pauses the agent: after the commit, no process starts an execution of it. Running executions continue, and waiting
   * ones keep their correlations active. Returns since when the agent is paused (epoch ms). DomainError: `not_found`
   * (no process has the agent).
   */
  abstract pauseAgent(tx: Transaction, name: string): Promise<number>;

  /** Lets waiting executions of this agent start again. DomainError: `not_found` (no process has the agent). */
  abstract resumeAgent(tx: Transaction, name: string): Promise<void>;

  /** Agent → since when it is paused (epoch ms). */
  abstract pausedAgents(): Promise<ReadonlyMap<string, number>>;

  /** DomainError `unavailable` if too much work is waiting or the process stops. */
  abstract refuseWhenBusy(): Promise<void>;

  /** `ok` is false while the process shuts down or the executor cannot work; `reason` says why. */
  abstract health(): { ok: boolean; reason?: string };

  /** Executions that wait to be claimed, as this process has counted them. */
  abstract waitingExecutions(): number;

  /** Artifacts that wait in joins, in batch windows or for their release, as this process has counted them. */
  abstract waitingArrivals(): number;
}
