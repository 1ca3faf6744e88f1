import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition, Subscription } from '../../catalog/definitions.js';
import { unknownAgent } from '../../catalog/unknown-names.js';
import { newId } from '../../common/ids.js';
import type { JsonObject } from '../../common/json.js';
import type { Transaction, TransactionOptions } from '../../database/unit-of-work.js';
import { NO_SPAN, type Span, Tracing } from '../../observability/tracing/tracing.js';
import { type ArtifactDraft, ArtifactWriter } from '../artifacts/artifact-writer.js';
import { type ExecutionInput, inputOf } from '../artifacts/execution-input.js';
import { NO_REPLAY, type ReplayColumns } from '../correlations/correlation-rows.js';
import { CorrelationTracker } from '../correlations/correlation-tracker.js';
import { inOrderOfTypes, isJoin } from '../matching/matcher.js';
import { Deadlines } from '../scheduling/deadlines.js';
import { ExecutionQueue } from '../scheduling/execution-queue.js';
import type { InlineRun } from '../scheduling/inline-run.js';
import { Drafts } from './drafts.js';
import { InlineRuns } from './inline-runs.js';
import { fittingSubscription, type NamedInput, namedInputs } from './input-fit.js';
import { areFewAndShort } from './matched-artifacts.js';

/** An execution of an agent that the caller named. Its inputs are checked and ready to be stored. */
export interface Invocation {
  subscription: Subscription;
  drafts: ArtifactDraft[];
  correlationId: string;
  /** Whether the service made the id for this invocation and has given it to no client, so that no correlation has it. */
  isNewCorrelation: boolean;
  /** The outputs trigger no agent. */
  direct: boolean;
  /** No client waits for it: among executions of equal priority, those of its correlation run last. */
  background: boolean;
  /** Milliseconds from its beginning until it is cancelled; null: no deadline. */
  deadlineMs: number | null;
  /** Whether it is kept apart from live work like a replay. */
  replay: ReplayColumns;
  /** The span of the request that it is prepared for. */
  cause: Span;
  /** Memory that the defaults in its inputs take (bytes), besides that of the request. */
  grownBytes: number;
  /** Its run, if its agent has answered already. */
  inline?: InlineRun;
}

/**
 * Returns the options of the transaction that begins the invocation. A small one runs together with others that come at the
 * same time, so it may not change rows that others know.
 */
export const transactionOf = ({ drafts, deadlineMs, correlationId }: Invocation): TransactionOptions =>
  deadlineMs === null && areFewAndShort(drafts) ? { group: { kind: 'invoked', key: correlationId } } : {};

interface Manner {
  isNewCorrelation?: boolean;
  background?: boolean;
  firstId?: string;
  deadlineMs?: number | null;
  replay?: ReplayColumns;
}

/** Executions that a caller requests by the agent's name. Their inputs trigger no agent. */
@Injectable()
export class Invocations {
  constructor(
    private readonly catalog: Catalog,
    private readonly drafts: Drafts,
    private readonly writer: ArtifactWriter,
    private readonly executions: ExecutionQueue,
    private readonly inlineRuns: InlineRuns,
    private readonly deadlines: Deadlines,
    private readonly tracker: CorrelationTracker,
    private readonly tracing: Tracing,
  ) {}

  /**
   * Checks the inputs of a run that begins with a named agent, in the form of docs/api.md, "Run a workflow". The first
   * input's artifact gets the id `firstId`. DomainError: `not_found` (unknown agent), `invalid` (the inputs match no
   * subscription, or a payload does not match its schema).
   */
  prepareRun(
    agent: string,
    inputs: JsonObject,
    correlationId: string,
    how: Manner & { firstId: string; background: boolean },
  ): Invocation {
    const { subscription, named } = namedInputs(this.agent(agent), inputs);
    return this.prepare(subscription, named, correlationId, how);
  }

  /** Checks the inputs of one execution whose outputs trigger no agent. DomainError as in `prepareRun`. */
  prepareDirect(
    agent: string,
    inputs: readonly { type: string; payload: JsonObject }[],
    correlationId: string,
    how: Pick<Manner, 'isNewCorrelation' | 'background' | 'replay'> = {},
  ): Invocation {
    const types = inputs.map(({ type }) => type);
    const subscription = fittingSubscription(this.agent(agent), types);
    const named = inputs.map((input, position) => ({ ...input, place: ['inputs', position, 'payload'] }));
    return this.prepare(subscription, named, correlationId, { ...how, direct: true });
  }

  /** Lets the agent answer before the transaction that begins the invocation, if it only computes. */
  async answered(invocation: Invocation): Promise<Invocation> {
    const { subscription, drafts, direct } = invocation;
    const inline = await this.inlineRuns.runner?.invoked(subscription, drafts, direct);
    return inline ? { ...invocation, inline } : invocation;
  }

  /**
   * Stores inputs and execution in a new correlation. DomainError `conflict` if it exists, which one with a new id does not. The caller
   * calls `Admission.refuseWhenBusy` first. `store` stores what belongs to the execution, before the correlation may settle.
   */
  async begin(
    tx: Transaction,
    invocation: Invocation,
    store?: (executionId: string) => Promise<void>,
  ): Promise<{ executionId: string; generation: number }> {
    const { subscription, correlationId, isNewCorrelation: isNew, background, deadlineMs, direct, replay } = invocation;
    const changes = this.tracker.begin(tx, invocation.cause);
    // Only runs have a row in the table `runs`.
    const beginning = direct || replay.origin !== null ? 'invoked' : 'run';
    const correlation = await changes.create(correlationId, { background, beginning, replay, isNew });
    if (deadlineMs !== null) await this.deadlines.set(tx, correlation, changes.now + deadlineMs);
    const inputs: number[] = [];
    const known: ExecutionInput[] = [];
    for (const draft of invocation.drafts) {
      const seq = (await this.writer.insert(tx, draft))!;
      known.push(inputOf(draft, seq, inputs.length));
      inputs.push(seq);
      changes.addArtifact(correlation, seq, draft);
    }
    // A new correlation cannot have reached its limit of executions, so the id is never null.
    const { inline } = invocation;
    const inlineContext = await this.inlineRuns.context(tx, inline ? [inline] : []);
    const execution = { subscription, correlation, inputs, known, inline, inlineContext, direct };
    const executionId = (await this.executions.add(tx, changes, execution))!;
    await store?.(executionId);
    await changes.save();
    return { executionId, generation: correlation.generation };
  }

  /**
   * Stores a closed, failed correlation for a run that failed before it published anything. The id must be new.
   */
  async beginFailed(tx: Transaction, correlationId: string): Promise<void> {
    const changes = this.tracker.begin(tx);
    await changes.createFailed(correlationId);
    await changes.save();
  }

  private agent(name: string): AgentDefinition {
    const agent = this.catalog.agent(name);
    if (!agent) throw unknownAgent(name, this.catalog.agents);
    return agent;
  }

  private prepare(
    subscription: Subscription,
    inputs: readonly NamedInput[],
    correlationId: string,
    {
      isNewCorrelation = false,
      direct = false,
      background = false,
      firstId = newId(),
      deadlineMs = null,
      replay = NO_REPLAY,
    }: Manner & { direct?: boolean },
  ): Invocation {
    const ordered = isJoin(subscription) ? inOrderOfTypes(subscription, inputs) : inputs;
    const limit = this.drafts.growthLimit();
    const isReplay = replay.origin !== null;
    const drafts = ordered.map((input, index) =>
      this.drafts.check(
        {
          ...input,
          artifactId: index === 0 ? firstId : newId(),
          correlationId,
          replay: isReplay,
          tags: [],
          partitionKey: null,
        },
        limit,
      ),
    );
    // The current span may belong to any request that woke the batch dispatcher, so it is not the cause of a batch row.
    const cause = background ? NO_SPAN : this.tracing.current();
    const grownBytes = limit.memoryBytes;
    const manner = { isNewCorrelation, direct, background, deadlineMs, replay };
    return { subscription, drafts, correlationId, ...manner, cause, grownBytes };
  }
}
