import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';

import { Catalog } from '../catalog/catalog.js';
import { DomainError } from '../common/domain-error.js';
import { locking } from '../database/dialects/dialect.js';
import type { ExecutionsTable } from '../database/schema.js';
import type { Transaction } from '../database/unit-of-work.js';
import { externalWork } from '../engines/external/external-work.js';
import { Signals } from '../pubsub/signals.js';
import type { CorrelationChanges } from './correlations/correlation-tracker.js';
import { recordFailedAttempt } from './execution/failed-attempts.js';
import { Processes } from './processes/processes.js';
import { DELETIONS } from './retention/cleanup.js';
import { Backlog } from './scheduling/backlog.js';
import { TimerQueue } from './scheduling/timer-queue.js';

/** Retries failed executions when a client asks for it. */
@Injectable()
export class FailedExecutions {
  constructor(
    private readonly catalog: Catalog,
    private readonly processes: Processes,
    private readonly timers: TimerQueue,
    private readonly backlog: Backlog,
    private readonly signals: Signals,
  ) {}

  /**
   * Implements `Blackboard.retryExecution`. Locks the correlation before the execution, as cancelling and outcomes do.
   */
  async retry(tx: Transaction, changes: CorrelationChanges, id: string): Promise<void> {
    // Retention cannot delete the inputs between the check below and the commit.
    await tx.lock([DELETIONS]);
    const owner = await tx.db.selectFrom('executions').select('correlation_id').where('id', '=', id).executeTakeFirst();
    if (!owner) throw new DomainError('not_found', `Execution not found: ${id}`);
    const correlation = await changes.get(owner.correlation_id);
    const failed = await hold(tx, id);
    if (failed.state !== 'failed')
      throw new DomainError('conflict', `Execution ${id} is ${failed.state}; only a failed execution can be retried`);
    if (correlation.closed === 1) {
      throw new DomainError(
        'conflict',
        `Execution ${id} cannot be retried: its correlation ${correlation.id} is closed; start a new one`,
      );
    }
    if (!(await this.processes.isConfigured(tx.db, failed.agent))) {
      throw new DomainError('conflict', `Execution ${id} cannot be retried: no process has the agent ${failed.agent}`);
    }
    if (await lacksInputs(tx, id))
      throw new DomainError('conflict', `Execution ${id} cannot be retried: its inputs have been deleted`);

    changes.reopen(correlation);
    correlation.pending += 1;
    if (failed.generation !== correlation.generation) correlation.generation_executions += 1;
    await recordFailedAttempt(tx, lastAttempt(failed));
    const work = externalWork(this.catalog.agent(failed.agent));
    const dueAt = work?.due ? changes.now + work.due.afterMs : null;
    await beginRound(tx, failed, {
      generation: correlation.generation,
      assignee: work ? work.assignee : failed.assignee,
      due_at: dueAt,
    });
    if (dueAt !== null) await this.timers.set(tx, 'due', dueAt, id);
    this.backlog.changed(tx, 1);
    tx.whenVisible(() => this.signals.executionReturned.publishEverywhere(failed.agent));
  }
}

type Execution = Selectable<ExecutionsTable>;

function hold(tx: Transaction, id: string): Promise<Execution> {
  return locking(tx.db, tx.db.selectFrom('executions').selectAll().where('id', '=', id), {
    wait: true,
  }).executeTakeFirstOrThrow();
}

/** Retention may have deleted the inputs of an execution that has ended. */
async function lacksInputs(tx: Transaction, executionId: string): Promise<boolean> {
  const inputs = await tx.db
    .selectFrom('execution_inputs')
    .leftJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
    .select('artifacts.seq')
    .where('execution_inputs.execution_id', '=', executionId)
    .execute();
  return inputs.length === 0 || inputs.some(({ seq }) => seq === null);
}

const lastAttempt = (failed: Execution): Parameters<typeof recordFailedAttempt>[1] => ({
  execution_id: failed.id,
  round: failed.round,
  attempt: failed.attempt,
  started_at: failed.attempt_started_at,
  ended_at: failed.ended_at!,
  error_type: failed.error_type!,
  error_message: failed.error_message!,
});

async function beginRound(
  tx: Transaction,
  { id, round }: Execution,
  begun: Pick<Execution, 'generation' | 'assignee' | 'due_at'>,
): Promise<void> {
  const again = {
    ...begun,
    escalated_at: null,
    round: round + 1,
    attempt: 1,
    lost_leases: 0,
    attempt_started_at: null,
  } as const;
  await tx.db
    .updateTable('executions')
    .set({ state: 'pending', available_at: null, ended_at: null, error_type: null, error_message: null, ...again })
    .where('id', '=', id)
    .execute();
}
