import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { AgentDefinition, Subscription } from '../../catalog/definitions.js';
import { GrowthLimit } from '../../catalog/growth-limit.js';
import { unknownAgent } from '../../catalog/unknown-names.js';
import { DomainError } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import type { JsonObject } from '../../common/json.js';
import { Settings } from '../../config/settings.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { NO_SPAN, Tracing } from '../../observability/tracing/tracing.js';
import { type ArtifactDraft, ArtifactWriter } from '../artifacts/artifact-writer.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { inOrderOfTypes, isJoin } from '../matching/matcher.js';
import { Deadlines } from '../scheduling/deadlines.js';
import { ExecutionQueue } from '../scheduling/execution-queue.js';
import type { Invocation } from './blackboard.js';
import { grownMemory, Publisher } from './publisher.js';

export interface NamedInput {
  type: string;
  payload: JsonObject;
  /** Its place in the request, for messages. */
  path: string;
}

/** Executions that a caller requests by the agent's name. Their inputs trigger no agent. */
@Injectable()
export class Invocations {
  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
    private readonly publisher: Publisher,
    private readonly writer: ArtifactWriter,
    private readonly executions: ExecutionQueue,
    private readonly deadlines: Deadlines,
    private readonly tracing: Tracing,
  ) {}

  /** DomainError `not_found` if this process does not have the agent. */
  agent(name: string): AgentDefinition {
    const agent = this.catalog.agent(name);
    if (!agent) throw unknownAgent(name);
    return agent;
  }

  /**
   * `firstId` becomes the artifact id of the first input. DomainError `invalid` if a payload does not match its schema.
   */
  prepare(
    subscription: Subscription,
    inputs: readonly NamedInput[],
    correlationId: string,
    {
      direct = false,
      background = false,
      firstId = newId(),
      deadlineMs = null,
    }: { direct?: boolean; background?: boolean; firstId?: string; deadlineMs?: number | null },
  ): Invocation {
    const ordered = isJoin(subscription) ? inOrderOfTypes(subscription, inputs) : inputs;
    const limit = new GrowthLimit(this.settings.bodyLimitBytes);
    const drafts = ordered.map((input, index) =>
      this.draft(input, correlationId, index === 0 ? firstId : newId(), limit),
    );
    // The current span may belong to any request that woke the batch dispatcher, so it is not the cause of a batch row.
    const cause = background ? NO_SPAN : this.tracing.current();
    const grownBytes = grownMemory(limit);
    return { subscription, drafts, correlationId, direct, background, deadlineMs, cause, grownBytes };
  }

  /** Stores inputs and execution in a new correlation. DomainError `conflict` if the correlation exists. */
  async begin(
    tx: Transaction,
    changes: CorrelationChanges,
    invocation: Invocation,
  ): Promise<{ executionId: string; generation: number }> {
    const { subscription, correlationId } = invocation;
    const correlation = await changes.create(correlationId, invocation.background);
    if (invocation.deadlineMs !== null) await this.deadlines.set(tx, correlation, changes.now + invocation.deadlineMs);
    const inputs: number[] = [];
    for (const draft of invocation.drafts) {
      const seq = (await this.writer.insert(tx, draft))!;
      inputs.push(seq);
      this.writer.count(changes, correlation, seq, draft);
    }
    // A new correlation cannot have reached its limit of executions, so the id is never null.
    const executionId = (await this.executions.add(tx, changes, {
      subscription,
      correlationId,
      inputs,
      direct: invocation.direct,
    }))!;
    return { executionId, generation: correlation.generation };
  }

  private draft(
    { type, payload, path }: NamedInput,
    correlationId: string,
    artifactId: string,
    limit: GrowthLimit,
  ): ArtifactDraft {
    try {
      return this.publisher.draft({ artifactId, correlationId, type, payload, tags: [], partitionKey: null }, limit);
    } catch (error) {
      throw error instanceof DomainError ? new DomainError(error.code, `${path}: ${error.message}`) : error;
    }
  }
}
