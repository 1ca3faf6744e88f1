import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import type { JsonObject } from '../../common/json.js';
import { MemoryBudget } from '../../common/memory-budget.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { CorrelationTracker } from '../correlations/correlation-tracker.js';
import { CorrelationWaiters } from '../correlations/correlation-waiters.js';
import { findOutputs } from '../queries/execution-artifact-rows.js';
import type { Item } from '../queries/stored-pieces.js';
import { StoredTexts } from '../queries/stored-texts.js';
import type { DirectRun } from './blackboard.js';
import { fittingSubscription } from './input-fit.js';
import { Invocations } from './invocations.js';

/** Runs one agent by itself: its outputs trigger no agent. */
@Injectable()
export class DirectRuns {
  constructor(
    private readonly clock: Clock,
    private readonly memory: MemoryBudget,
    private readonly unitOfWork: UnitOfWork,
    private readonly tracker: CorrelationTracker,
    private readonly invocations: Invocations,
    private readonly waiters: CorrelationWaiters,
    private readonly texts: StoredTexts,
  ) {}

  /** Implements `Blackboard.beginDirectRun`. */
  async begin(
    agent: string,
    inputs: { type: string; payload: JsonObject }[],
    correlationId: string,
  ): Promise<DirectRun> {
    const definition = this.invocations.agent(agent);
    const subscription = fittingSubscription(
      definition,
      inputs.map(({ type }) => type),
    );
    const named = inputs.map((input, position) => ({ ...input, path: `inputs[${position}]` }));
    const invocation = this.invocations.prepare(subscription, named, correlationId, { direct: true });
    const begun = await this.memory.during(invocation.grownBytes, () =>
      this.unitOfWork.run(async (tx) => {
        const changes = this.tracker.begin(tx, this.clock.now(), invocation.cause);
        const { executionId, generation } = await this.invocations.begin(tx, changes, invocation);
        await changes.save();
        return { executionId, generation };
      }),
    );
    return { agent, correlationId, ...begun };
  }

  /** Implements `Blackboard.outputsOf`. */
  async outputsOf({ agent, correlationId, executionId, generation }: DirectRun): Promise<Item[]> {
    const ended = await this.waiters.wait(correlationId, generation, Number.MAX_SAFE_INTEGER);
    if (!ended)
      throw new DomainError(
        'unavailable',
        `The service is shutting down; ${agent} continues after the next start, in correlation ${correlationId}`,
      );
    const { reader } = this.unitOfWork;
    const execution = await reader
      .selectFrom('executions')
      .select(['state', 'error_message'])
      .where('id', '=', executionId)
      .executeTakeFirstOrThrow();
    if (execution.state !== 'completed') {
      throw new DomainError('agent_failed', `Agent ${agent} failed: ${execution.error_message ?? execution.state}`);
    }
    return this.texts.itemsAlong((after, limit, most) => findOutputs(reader, { executionId, after, limit, most }), 0);
  }
}
