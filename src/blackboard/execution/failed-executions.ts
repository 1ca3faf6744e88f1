import { Injectable } from '@nestjs/common';

import { Catalog } from '../../catalog/catalog.js';
import { DomainError } from '../../common/domain-error.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { effectOf } from '../../engines/effects.js';
import { externalWork } from '../../engines/external/external-work.js';
import { Signals } from '../../pubsub/signals.js';
import { NEVER } from '../../queue/queue.js';
import { type CorrelationChanges, CorrelationTracker } from '../correlations/correlation-tracker.js';
import { changesIn } from '../correlations/replay-options.js';
import { RECORDED, RUN } from '../correlations/replay-values.js';
import type { TrackedCorrelation } from '../correlations/tracked-correlation.js';
import { LimitReleases } from '../limits/limit-releases.js';
import { turnAgain } from '../limits/singleton-turns.js';
import { isUnknown } from '../matching/cancel-keys.js';
import { isMissingValues } from '../matching/queue-expressions.js';
import { Processes } from '../processes/processes.js';
import { DELETIONS } from '../retention/cleanup.js';
import { Backlog } from '../scheduling/backlog.js';
import { TimerQueue } from '../scheduling/timer-queue.js';
import { recordFailedAttempt } from './ended-rows.js';
import {
  beginRound,
  findCorrelationOf,
  findFailedAmong,
  holdExecution,
  type RetriedExecution,
  type StoredExecution,
} from './execution-rows.js';
import { lacksInputs } from './input-rows.js';

/** Retries failed executions when a client asks for it. */
@Injectable()
export class FailedExecutions {
  constructor(
    private readonly catalog: Catalog,
    private readonly processes: Processes,
    private readonly tracker: CorrelationTracker,
    private readonly timers: TimerQueue,
    private readonly backlog: Backlog,
    private readonly releases: LimitReleases,
    private readonly signals: Signals,
  ) {}

  /**
   * Queues a failed execution again, with its first attempt and the same inputs. Its correlation reopens if it has
   * settled. The artifacts of the failure, such as the WorkflowError, stay. DomainError: `not_found`, `conflict` (it
   * has not failed, its correlation is closed, no process has its agent, or its inputs have been deleted).
   */
  async retry(tx: Transaction, id: string): Promise<void> {
    // Retention cannot delete the inputs between the check below and the commit.
    await tx.lock([DELETIONS]);
    const correlationId = await findCorrelationOf(tx, id);
    if (correlationId === undefined) throw new DomainError('not_found', `Execution not found: ${id}`);
    const changes = this.tracker.begin(tx);
    // The correlation is locked before the execution, as cancelling and outcomes do.
    const correlation = await changes.get(correlationId);
    const failed = await holdExecution(tx, id);
    if (failed.state !== 'failed')
      throw new DomainError('conflict', `Execution ${id} is ${failed.state}; only a failed execution can be retried`);
    const { closed, replay_mode, replay_options } = correlation;
    const refusal = await this.refusal(tx, { ...failed, closed, replay_mode, replay_options });
    if (refusal !== null) throw new DomainError('conflict', refusal);
    await this.queue(tx, changes, correlation, failed);
    await changes.save();
  }

  /**
   * Queues those of the executions again that failed at or before `until` (epoch ms). Returns how many, and why the
   * others of them cannot be retried. The caller has locked DELETIONS.
   */
  async retryAll(
    tx: Transaction,
    ids: readonly string[],
    until: number,
  ): Promise<{ retried: number; refusals: string[] }> {
    const found = await findFailedAmong(tx, ids, until);
    const refusals = new Map<string, string>();
    for (const execution of found) {
      const refusal = await this.refusal(tx, execution);
      if (refusal !== null) refusals.set(execution.id, refusal);
    }
    // Only what will change is locked. Correlations are locked in the order of their ids, and then executions.
    const accepted = found.filter(({ id }) => !refusals.has(id));
    const changes = this.tracker.begin(tx);
    await changes.getAll([...new Set(accepted.map(({ correlation_id }) => correlation_id))]);
    let retried = 0;
    for (const { id, correlation_id } of accepted) {
      const correlation = await changes.get(correlation_id);
      const failed = await holdExecution(tx, id);
      // Another request may have retried it, or closed its correlation, before the lock.
      if (failed.state !== 'failed' || failed.ended_at! > until) continue;
      if (correlation.closed === 1) {
        refusals.set(id, isClosed(failed));
        continue;
      }
      await this.queue(tx, changes, correlation, failed);
      retried += 1;
    }
    await changes.save();
    return { retried, refusals: [...refusals.values()] };
  }

  /** Why a failed execution cannot be retried, or null. */
  private async refusal(tx: Transaction, execution: RetriedExecution): Promise<string | null> {
    const { id, agent, closed, replay, replay_mode, replay_options } = execution;
    if (closed === 1) return isClosed(execution);
    const { configuration } = changesIn(replay_options);
    // If this process does not have the configuration, the claim decides, in one that has it.
    const canKnow = this.catalog.canReplay(configuration);
    const definition = canKnow ? this.catalog.forReplay(agent, configuration).agent(agent) : undefined;
    if (replay_mode === 'shadow' && (replay > RUN || (definition && effectOf(definition) !== null))) {
      const why = replay === RECORDED ? 'took its failure from the record' : `does not run ${agent}`;
      return `Execution ${id} cannot be retried: its shadow replay ${why}`;
    }
    if (!(await this.processes.isConfigured(tx.db, agent)))
      return `Execution ${id} cannot be retried: no process has the agent ${agent}`;
    if (await lacksInputs(tx.db, id)) return `Execution ${id} cannot be retried: its inputs have been deleted`;
    return null;
  }

  private async queue(
    tx: Transaction,
    changes: CorrelationChanges,
    correlation: TrackedCorrelation,
    failed: StoredExecution,
  ): Promise<void> {
    const { id } = failed;
    changes.reopen(correlation);
    correlation.pending += 1;
    if (failed.generation !== correlation.generation) correlation.generation_executions += 1;
    await recordFailedAttempt(tx, lastAttempt(failed));
    const work = externalWork(this.catalog.agent(failed.agent));
    const dueAt = work?.due ? changes.now + work.due.afterMs : null;
    // Agents and clients name errors as they like, so that the type alone does not say it.
    const hasKeys = [failed.limit_keys, failed.fair_key, failed.singleton_key].some((key) => key !== null);
    const keysFailed = isMissingValues(failed.error_type) && !hasKeys;
    // It may also have been ended while it waited for its keys.
    const lacksKeys = keysFailed || isUnknown(failed.cancel_key) || isUnknown(failed.singleton_key);
    // Another execution may have the turn now, so it waits until the loop that passes turns on has looked.
    const blockedOn = lacksKeys ? null : turnAgain(failed.agent, failed.singleton_key);
    await beginRound(tx, failed, {
      generation: correlation.generation,
      assignee: work ? work.assignee : failed.assignee,
      due_at: dueAt,
      available_at: lacksKeys || blockedOn !== null ? NEVER : null,
      blocked_on: blockedOn,
      singleton_waits: blockedOn === null ? 0 : 1,
    });
    if (lacksKeys) await this.timers.set(tx, 'limits', changes.now, id);
    if (dueAt !== null) await this.timers.set(tx, 'due', dueAt, id);
    this.backlog.changed(tx, 1);
    if (blockedOn !== null) tx.afterCommit(() => this.releases.waits([blockedOn]));
    tx.whenVisible(() => this.signals.executionReturned.publishEverywhere(failed.agent));
  }
}

const isClosed = ({ id, correlation_id }: Pick<RetriedExecution, 'id' | 'correlation_id'>): string =>
  `Execution ${id} cannot be retried: its correlation ${correlation_id} is closed; start a new one`;

const lastAttempt = (failed: StoredExecution): Parameters<typeof recordFailedAttempt>[1] => ({
  execution_id: failed.id,
  round: failed.round,
  attempt: failed.attempt,
  started_at: failed.attempt_started_at,
  ended_at: failed.ended_at!,
  error_type: failed.error_type!,
  error_message: failed.error_message!,
  error_cause: failed.error_cause,
  error_stack: failed.error_stack,
});
