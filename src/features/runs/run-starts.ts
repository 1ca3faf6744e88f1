import { Injectable } from '@nestjs/common';

import { Admission } from '../../blackboard/publishing/admission.js';
import { type Invocation, Invocations, transactionOf } from '../../blackboard/publishing/invocations.js';
import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { newId } from '../../common/ids.js';
import type { JsonObject } from '../../common/json.js';
import { MemoryBudget } from '../../common/memory-budget.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { deadlineMs } from '../../http/dto/deadline.js';
import type { RequestIds } from '../idempotency/request-ids.js';
import type { RunRequest } from './dto/run-request.js';
import { RunEvents } from './run-events.js';
import { RunsRepository } from './runs.repository.js';

/** The batch item that a run executes. */
export interface BatchItem {
  batchId: string;
  round: number;
  /** Number of items that share the run, because they have equal values in `row_key`. */
  items: number;
}

/** Starts runs, for requests and for the items of batches. */
@Injectable()
export class RunStarts {
  constructor(
    private readonly admission: Admission,
    private readonly invocations: Invocations,
    private readonly runs: RunsRepository,
    private readonly events: RunEvents,
    private readonly clock: Clock,
    private readonly memory: MemoryBudget,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /**
   * Returns whether an earlier request with the same idempotency key has started it. Throws DomainError `not_found`,
   * `invalid`, `conflict` (the correlation exists already), `unavailable`.
   */
  async start(request: RunRequest, ids: RequestIds): Promise<{ isRepeated: boolean }> {
    await this.admission.refuseWhenBusy();
    const { agent_name: agent, inputs = {}, async_run: isAsync = false } = request;
    const { madeId: firstId, isNewCorrelation } = ids;
    const how = { isNewCorrelation, firstId, background: false, deadlineMs: deadlineMs(request.deadline) };
    const prepared = this.invocations.prepareRun(agent, inputs, ids.correlationId, how);
    // The contract of an asynchronous run says that it has not ended when it is answered.
    const invocation = isAsync ? prepared : await this.invocations.answered(prepared);
    return this.admission.withinShare(invocation, () =>
      this.memory.during(invocation.grownBytes, () =>
        this.unitOfWork.run((tx) => this.storeOnce(tx, invocation, ids), transactionOf(invocation)),
      ),
    );
  }

  /** Starts the run of a batch item, under a new id. Throws DomainError `invalid` if the inputs do not fit. */
  async startItem(tx: Transaction, agent: string, inputs: JsonObject, id: string, item: BatchItem): Promise<void> {
    const how = { isNewCorrelation: true, firstId: newId(), background: true };
    await this.store(tx, this.invocations.prepareRun(agent, inputs, id, how), item);
  }

  /** Stores a failed run, under a new id, for a batch item whose row could not be turned into inputs. */
  async failItem(tx: Transaction, agent: string, id: string, error: string, item: BatchItem): Promise<void> {
    const now = this.clock.now();
    await this.invocations.beginFailed(tx, id);
    const run = { id, agent, status: 'failed', execution_id: null, created_at: now, ended_at: now, error } as const;
    await this.runs.insert(tx, { ...ofItem(item), ...run });
    this.events.changed(tx, run);
  }

  // A request that is repeated with its idempotency key after a crash finds the run that it started.
  private async storeOnce(tx: Transaction, invocation: Invocation, ids: RequestIds): Promise<{ isRepeated: boolean }> {
    try {
      await this.store(tx, invocation, null);
      return { isRepeated: false };
    } catch (error) {
      const isTaken = error instanceof DomainError && error.code === 'conflict';
      if (!isTaken || !(await this.runs.wasBegunWith(tx, ids.correlationId, ids.madeId))) throw error;
      return { isRepeated: true };
    }
  }

  private async store(tx: Transaction, invocation: Invocation, item: BatchItem | null): Promise<void> {
    const { correlationId: id, subscription } = invocation;
    await this.invocations.begin(tx, invocation, async (execution_id) => {
      const state = { status: 'running', ended_at: null, error: null } as const;
      const run = { id, agent: subscription.agent, execution_id, ...state };
      await this.runs.insert(tx, { ...ofItem(item), ...run, created_at: this.clock.now() });
      this.events.changed(tx, run);
    });
  }
}

const ofItem = (item: BatchItem | null) => ({
  batch_id: item?.batchId ?? null,
  batch_round: item?.round ?? 0,
  batch_items: item?.items ?? 0,
});
