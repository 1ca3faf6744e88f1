import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import type { Subscription } from '../../catalog/definitions.js';
import { newId } from '../../common/ids.js';
import { Settings } from '../../config/settings.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { externalWork } from '../../engines/external/external-work.js';
import { Signals } from '../../pubsub/signals.js';
import { NEVER } from '../../queue/queue.js';
import type { ExecutionInput } from '../artifacts/execution-input.js';
import { findArtifactIds } from '../artifacts/stored-artifact-rows.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { isReplay, type TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { findBlockedAmong } from '../limits/limit-rows.js';
import { keyText, parseKeys } from '../limits/limit-usage.js';
import { QueueExpressions } from '../matching/queue-expressions.js';
import type { QueueValues } from '../matching/queue-values.js';
import { keyIn } from '../matching/replay-keys.js';
import { Backlog } from './backlog.js';
import { ImmediateStarts, type KeptSlot } from './immediate-starts.js';
import {
  countInGeneration,
  insertExecutions,
  insertInputs,
  insertRunning,
  type NewExecutionRow,
} from './queued-execution-rows.js';
import { TimerQueue } from './timer-queue.js';
import { WorkflowErrors } from './workflow-errors.js';

export interface NewExecution {
  /** The subscription that triggers it, or that accepts the inputs of its caller. */
  subscription: Subscription;
  /** It owns the execution. */
  correlation: TrackedCorrelation;
  /** Positions of the input artifacts, in the order in which the agent sees them. */
  inputs: number[];
  /** The inputs, if the caller has them in memory. Only then can the execution start without a claim. */
  known?: ExecutionInput[];
  /** It is queued with these, if the caller has computed them. */
  queueValues?: QueueValues;
  direct: boolean;
}

/** The columns that decide when it may start, and what cancels it. */
type QueuePlace = QueueValues & Pick<NewExecutionRow, 'blocked_on' | 'available_at'>;

/** Queues executions in the transaction that triggers them, and enforces the limit on executions per correlation. */
@Injectable()
export class ExecutionQueue {
  constructor(
    private readonly settings: Settings,
    private readonly catalog: Catalog,
    private readonly timers: TimerQueue,
    private readonly errors: WorkflowErrors,
    private readonly backlog: Backlog,
    private readonly starts: ImmediateStarts,
    private readonly queueExpressions: QueueExpressions,
    private readonly signals: Signals,
  ) {}

  /**
   * Returns the new execution's id, or null if the agent has reached its limit in this generation of the correlation.
   */
  async add(tx: Transaction, changes: CorrelationChanges, execution: NewExecution): Promise<string | null> {
    const { correlation, subscription } = execution;
    const { agent } = subscription;
    if (await this.limitReached(tx, correlation, agent)) {
      await this.reportLimit(tx, changes, execution);
      return null;
    }
    const { priority, cancel_key, ...place } = await this.placeOf(tx, execution);
    const row = {
      ...this.rowOf(execution, changes.now),
      ...place,
      priority: priority ?? subscription.priority,
      cancel_key:
        cancel_key === null ? null : keyIn({ id: correlation.id, isReplay: isReplay(correlation) }, cancel_key),
    };
    const lacksKeys = row.available_at !== null && row.blocked_on === null;
    // Only a claim holds the locks of limits.
    const isLimited = row.limit_keys !== null || lacksKeys;
    // A claim reads what the replay overrides.
    const isOverridden = correlation.replay_options !== null;
    const slot = execution.known && !isLimited && !isOverridden ? this.starts.keepSlot(tx, agent, row.id) : null;
    if (slot) await this.insertRunning(tx, row, slot, execution.known!);
    else await this.insertPending(tx, row);
    await insertInputs(
      tx.db,
      execution.inputs.map((artifact_seq, position) => ({ execution_id: row.id, position, artifact_seq })),
    );
    if (row.due_at !== null) await this.timers.set(tx, 'due', row.due_at, row.id);
    // Expressions may take a second, which is too long for a transaction. A timer that is due immediately evaluates them.
    if (lacksKeys) await this.timers.set(tx, 'limits', changes.now, row.id);
    correlation.pending += 1;
    correlation.generation_executions += 1;
    return row.id;
  }

  private async insertPending(tx: Transaction, row: NewExecutionRow): Promise<void> {
    await insertExecutions(tx.db, [{ ...row, state: 'pending' }]);
    this.backlog.changed(tx, 1);
    if (row.available_at === null) tx.whenVisible(() => this.signals.executionReady.publish(row.agent));
  }

  /** The database decides whether it may run (`insertRunning`). Nothing else of the transaction depends on that. */
  private async insertRunning(
    tx: Transaction,
    row: NewExecutionRow,
    slot: KeptSlot,
    inputs: ExecutionInput[],
  ): Promise<void> {
    tx.withAnswer(insertRunning(tx.db, { ...row, ...slot.lease }), ([stored]) => {
      if (stored!.state === 'running') slot.start(row, inputs);
      else {
        slot.release();
        this.backlog.hasChanged(1);
        this.signals.executionReady.publish(row.agent);
      }
    });
    await slot.countStart(row);
  }

  /** An execution keeps the limits and the keys that it is queued with. */
  private async placeOf(tx: Transaction, { subscription, queueValues }: NewExecution): Promise<QueuePlace> {
    const values = queueValues ?? this.queueExpressions.withoutInputs(subscription);
    if (!values)
      return { ...this.queueExpressions.notComputed(subscription.agent), blocked_on: null, available_at: NEVER };
    if (values.limit_keys === null) return { ...values, blocked_on: null, available_at: null };
    // It waits behind those that wait already, and no claim reads it.
    const [blocked_on = null] = await findBlockedAmong(tx.db, parseKeys(values.limit_keys).map(keyText));
    return { ...values, blocked_on, available_at: blocked_on === null ? null : NEVER };
  }

  private rowOf(
    { subscription, correlation, direct }: NewExecution,
    now: number,
  ): Omit<NewExecutionRow, keyof QueuePlace> {
    const work = externalWork(this.catalog.agent(subscription.agent));
    return {
      id: newId(),
      agent: subscription.agent,
      subscription: subscription.index,
      correlation_id: correlation.id,
      generation: correlation.generation,
      direct: direct ? 1 : 0,
      replay: isReplay(correlation) ? 1 : 0,
      // The agent gets the inputs of a window as a list, even a single one.
      batch: subscription.batch ? 1 : 0,
      background: correlation.background,
      attempt: 1,
      lost_leases: 0,
      traceparent: correlation.workTraceparent,
      assignee: work?.assignee ?? null,
      due_at: work?.due ? now + work.due.afterMs : null,
      created_at: now,
    };
  }

  // The correlation stores the generation's count over all agents. The agent's executions are counted only if that
  // count has reached the limit.
  private async limitReached(tx: Transaction, correlation: TrackedCorrelation, agent: string): Promise<boolean> {
    const limit = this.settings.maxExecutionsPerCorrelation;
    if (correlation.generation_executions < limit) return false;
    return (await countInGeneration(tx, correlation, agent)) >= limit;
  }

  private async reportLimit(
    tx: Transaction,
    changes: CorrelationChanges,
    { subscription, correlation, inputs }: NewExecution,
  ): Promise<void> {
    const { agent } = subscription;
    const reported = JSON.parse(correlation.limited_agents) as string[];
    if (reported.includes(agent)) return;
    correlation.limited_agents = JSON.stringify([...reported, agent]);
    await this.errors.write(tx, changes, {
      agent,
      errorType: 'limit',
      message: `${agent} ran ${this.settings.maxExecutionsPerCorrelation} times in this correlation and will not run again; raise max_executions_per_correlation to allow more`,
      correlationId: correlation.id,
      executionId: null,
      attempts: 0,
      inputArtifactIds: await findArtifactIds(tx, inputs),
      silent: false,
    });
  }
}
