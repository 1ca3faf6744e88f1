import { Injectable } from '@nestjs/common';

import { DomainError } from '../../common/domain-error.js';
import type { JsonObject } from '../../common/json.js';
import { MemoryBudget } from '../../common/memory-budget.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { CorrelationWaiters } from '../correlations/correlation-waiters.js';
import { findOutputs } from '../queries/execution-artifact-rows.js';
import type { Item } from '../queries/stored-pieces.js';
import { StoredTexts } from '../queries/stored-texts.js';
import { Admission } from './admission.js';
import { Invocations, transactionOf } from './invocations.js';
import { findExecutionState } from './publishing-rows.js';

/** A stored execution of one agent whose outputs trigger no agent. */
export interface DirectRun {
  agent: string;
  correlationId: string;
  executionId: string;
  generation: number;
}

/** Runs one agent by itself: its outputs trigger no agent. */
@Injectable()
export class DirectRuns {
  constructor(
    private readonly admission: Admission,
    private readonly invocations: Invocations,
    private readonly waiters: CorrelationWaiters,
    private readonly texts: StoredTexts,
    private readonly memory: MemoryBudget,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Stores one execution of the agent on these inputs, in a correlation with this new id; resolves after the commit.
   * DomainError: `not_found` (unknown agent), `invalid` (the inputs match no subscription, or a payload does not match its
   * schema), `unavailable`.
   */
  async begin(
    agent: string,
    inputs: readonly { type: string; payload: JsonObject }[],
    correlationId: string,
  ): Promise<DirectRun> {
    await this.admission.refuseWhenBusy();
    const prepared = this.invocations.prepareDirect(agent, inputs, correlationId, { isNewCorrelation: true });
    const invocation = await this.invocations.answered(prepared);
    const begun = await this.admission.withinShare(invocation, () =>
      this.memory.during(invocation.grownBytes, () =>
        this.unitOfWork.run((tx) => this.invocations.begin(tx, invocation), transactionOf(invocation)),
      ),
    );
    return { agent, correlationId, ...begun };
  }

  /**
   * Waits until a direct run has ended, and returns what it published, as items of an answer. DomainError:
   * `agent_failed` (the message names agent and reason), `conflict` (it was cancelled, or an execution with the
   * same key of `singleton` runs), `unavailable` if the process stops before.
   */
  async outputsOf({ agent, correlationId, executionId, generation }: DirectRun): Promise<Item[]> {
    const ended = await this.waiters.wait(correlationId, generation, Number.MAX_SAFE_INTEGER);
    if (!ended)
      throw new DomainError(
        'unavailable',
        `The service is shutting down; ${agent} continues after the next start, in correlation ${correlationId}`,
      );
    const { reader } = this.unitOfWork;
    const { state, error_message, skipped_for, cancelled_by } = await findExecutionState(reader, executionId);
    if (skipped_for !== null)
      throw new DomainError(
        'conflict',
        `Agent ${agent} did not run: its execution ${skipped_for} with the same key of singleton had not ended`,
      );
    if (state === 'cancelled')
      throw new DomainError(
        'conflict',
        `Agent ${agent} was cancelled${cancelled_by === null ? '' : ` by the artifact ${cancelled_by}`}, in correlation ${correlationId}`,
      );
    if (state !== 'completed')
      throw new DomainError('agent_failed', `Agent ${agent} failed: ${error_message ?? state}`);
    return this.texts.itemsAlong((after, limit, most) => findOutputs(reader, { executionId, after, limit, most }), 0);
  }
}
