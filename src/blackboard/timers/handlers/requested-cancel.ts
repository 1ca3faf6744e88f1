import { Injectable } from '@nestjs/common';

import { type Transaction, UnitOfWork } from '../../../database/unit-of-work.js';
import type { CorrelationChanges } from '../../correlations/correlation-tracker.js';
import { CancelledExecutions } from '../../execution/cancelled-executions.js';
import {
  type CancelRequest,
  deleteRequest,
  findRequest,
  findRequested,
  isKeyUnknown,
} from '../../scheduling/cancel-request-rows.js';
import { TimerQueue } from '../../scheduling/timer-queue.js';
import type { Timer } from '../../scheduling/timer-rows.js';
import { NOTHING, type TimerHandler, type TimerWork } from '../timer-handler.js';

/** Executions that one transaction cancels, and with them at most as many correlations that it locks. */
const CANCELLED_AT_ONCE = 100;

/** While keys of executions that were just queued are not computed yet. */
const LOOK_AGAIN_MS = 500;

/** Cancels the executions that an artifact cancels by a key. The subject is the id of the request. */
@Injectable()
export class RequestedCancel implements TimerHandler {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly executions: CancelledExecutions,
    private readonly timers: TimerQueue,
  ) {}

  async prepare({ subject }: Timer): Promise<TimerWork> {
    const request = await findRequest(this.unitOfWork.reader, subject);
    return request ? { lockKeys: [], run: (tx, changes) => this.cancel(tx, changes, request) } : NOTHING;
  }

  private async cancel(tx: Transaction, changes: CorrelationChanges, request: CancelRequest): Promise<void> {
    const { id, artifact_id } = request;
    // Before the search, which finds those whose key another transaction computes after this.
    const isUnknown = await isKeyUnknown(tx, request);
    const found = await findRequested(tx, request, CANCELLED_AT_ONCE);
    await this.executions.cancel(tx, changes, found, { cancelled_by: artifact_id });
    if (found.length === CANCELLED_AT_ONCE) await this.timers.set(tx, 'cancel', changes.now, id);
    else if (isUnknown) await this.timers.set(tx, 'cancel', changes.now + LOOK_AGAIN_MS, id);
    else await deleteRequest(tx, id);
  }
}
