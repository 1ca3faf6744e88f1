import { Injectable } from '@nestjs/common';

import { Catalog } from '../../../catalog/catalog.js';
import { UnitOfWork } from '../../../database/unit-of-work.js';
import { DueTimes } from '../../external/due-times.js';
import { findAgentOf } from '../../scheduling/queued-execution-rows.js';
import type { Timer } from '../../scheduling/timer-rows.js';
import { type NotHere, NOTHING, type TimerHandler, type TimerWork } from '../timer-handler.js';

/** Escalates or fails an execution of an external agent that is overdue. The subject is the execution's id. */
@Injectable()
export class ExecutionDueTime implements TimerHandler {
  constructor(
    private readonly catalog: Catalog,
    private readonly unitOfWork: UnitOfWork,
    private readonly dueTimes: DueTimes,
  ) {}

  async prepare({ subject: id, due_at, was_due_at }: Timer): Promise<TimerWork | NotHere> {
    const execution = await findAgentOf(this.unitOfWork.reader, id);
    if (!execution) return NOTHING;
    if (!this.catalog.agent(execution.agent)) return { needs: { agent: execution.agent, subscription: null } };
    return {
      lockKeys: [],
      correlationId: execution.correlation_id,
      run: (tx, changes) => this.dueTimes.passed(tx, changes, id, was_due_at ?? due_at),
    };
  }
}
