import { Injectable } from '@nestjs/common';

import { random } from '../../common/random.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { ExecutionInput } from '../artifacts/execution-input.js';
import { ImmediateStarts, type KeptSlot } from '../scheduling/immediate-starts.js';
import type { NewExecutionRow } from '../scheduling/queued-execution-rows.js';
import { countStart } from './activity-event-rows.js';
import type { ClaimedExecution } from './claims.js';
import { ExecutionSlots } from './execution-slots.js';
import { Executor } from './executor.js';

/** Gives executions that are added a slot of the executor, if one would take them next. */
@Injectable()
export class StartedExecutions {
  constructor(
    starts: ImmediateStarts,
    private readonly slots: ExecutionSlots,
    private readonly executor: Executor,
  ) {
    starts.use((tx, agent, id) => this.keepSlot(tx, agent, id));
  }

  private keepSlot(tx: Transaction, agent: string, id: string): KeptSlot | null {
    const { loop } = this.executor;
    const lease = this.slots.isOwn(agent) ? loop.keepSlot(agent, id) : null;
    if (!lease) return null;
    tx.whenUndone((isUnknown) => loop.releaseKept(agent, id, isUnknown));
    const leaseToken = random.uuid();
    return {
      lease: { leaseToken, ...lease },
      release: () => loop.releaseKept(agent, id, false),
      startAfterCommit: async (row, inputs) => {
        await countStart(tx, agent, row.created_at);
        tx.afterCommit(() => loop.startKept(claimedExecution(row, leaseToken, inputs)));
      },
    };
  }
}

const claimedExecution = (row: NewExecutionRow, leaseToken: string, inputs: ExecutionInput[]): ClaimedExecution => ({
  id: row.id,
  agent: row.agent,
  correlationId: row.correlation_id,
  attempt: row.attempt,
  direct: row.direct === 1,
  batch: row.batch === 1,
  leaseToken,
  traceparent: row.traceparent,
  assignee: row.assignee,
  dueAt: row.due_at,
  inputs,
  waitedMs: 0,
});
