import { Injectable } from '@nestjs/common';

import { UnitOfWork } from '../../../database/unit-of-work.js';
import { Cancellation } from '../../execution/cancellation.js';
import { JoinRemoval } from '../../joins/join-removal.js';
import type { Timer } from '../../scheduling/timer-rows.js';
import type { TimerHandler, TimerWork } from '../timer-handler.js';

/** Cancels a correlation whose deadline has passed. The subject is the correlation's id. */
@Injectable()
export class CorrelationDeadline implements TimerHandler {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly joinRemoval: JoinRemoval,
    private readonly cancellation: Cancellation,
  ) {}

  async prepare({ subject: id, due_at, was_due_at }: Timer): Promise<TimerWork> {
    const deadline = was_due_at ?? due_at;
    return {
      lockKeys: await this.joinRemoval.lockKeys(this.unitOfWork.reader, [id]),
      correlationId: id,
      run: (tx, changes) => this.cancellation.cancelOverdue(tx, changes, id, deadline),
    };
  }
}
