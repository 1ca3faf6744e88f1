import { Injectable } from '@nestjs/common';

import { UnitOfWork } from '../../../database/unit-of-work.js';
import { Cancellation } from '../../execution/cancellation.js';
import { JoinRemoval } from '../../joins/join-removal.js';
import { generationOf } from '../../scheduling/deadlines.js';
import type { Timer } from '../../scheduling/timer-rows.js';
import type { TimerHandler, TimerWork } from '../timer-handler.js';

/** Cancels a correlation whose deadline has passed. The subject names its generation. */
@Injectable()
export class CorrelationDeadline implements TimerHandler {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly joinRemoval: JoinRemoval,
    private readonly cancellation: Cancellation,
  ) {}

  async prepare({ subject }: Timer): Promise<TimerWork> {
    const overdue = generationOf(subject);
    return {
      lockKeys: await this.joinRemoval.lockKeys(this.unitOfWork.reader, [overdue.id]),
      correlationId: overdue.id,
      run: (tx, changes) => this.cancellation.cancelOverdue(tx, changes, overdue),
    };
  }
}
