import { Injectable } from '@nestjs/common';

import { type AgentWork, Telemetry, workOrigin } from '../../common/telemetry.js';
import { startOfHour } from '../../common/time-steps.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { ToolCall, ToolCallEnd } from '../../engines/engine.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import { isReplay } from '../correlations/tracked-correlation.js';
import { addCosts, addUsage, type AttemptUsage } from './attempt-usage.js';
import { BudgetReservations } from './budget-reservations.js';
import { shortage } from './budget-room.js';
import { Budgets } from './budgets.js';
import type { ReservedCall } from './reservation-rows.js';
import {
  findToolCall,
  findUsage,
  insertActivity,
  insertToolCalls,
  insertUsage,
  type StoredUsage,
  type Sums,
  updateUsage,
} from './usage-rows.js';

/** The outcome exceeds a budget. The message names it. */
export class BudgetOverrun extends Error {}

/** The attempt that used models or tools. */
export interface Spender {
  id: string;
  agent: string;
  correlationId: string;
  attempt: number;
  leaseToken: string;
  /** The variant of its agent. Absent if it has none, or if another process ran the attempt. */
  variant?: string | null;
  /** Null if the attempt used no model. */
  usage?: AttemptUsage | null;
  toolCalls?: readonly RecordedCall[];
  /** Whether a model call of the attempt reserved budget. Absent if another process may have run the attempt. */
  hasReserved?: boolean;
}

/** `end` is null while the call is running. */
export type RecordedCall = ToolCall & { end: ToolCallEnd | null };

/** Records the model usage and the tool calls of attempts, and enforces the budgets. */
@Injectable()
export class Usages {
  constructor(
    private readonly budgets: Budgets,
    private readonly reservations: BudgetReservations,
    private readonly telemetry: Telemetry,
  ) {}

  /**
   * Records usage in the transaction of the outcome. The caller has locked the correlation. Throws BudgetOverrun if a
   * budget is exceeded; the caller then rolls the transaction back.
   */
  async spend(tx: Transaction, changes: CorrelationChanges, execution: Spender): Promise<void> {
    const isMore = await this.record(tx, changes, execution);
    // If another process ran the attempt, this one does not know whether it reserved.
    if (execution.hasReserved ?? this.budgets.holdFor(execution.agent)) {
      await this.settleLost(tx, changes, execution.correlationId, execution.leaseToken);
      await this.reservations.giveBack(tx, changes, execution);
    }
    const overrun = isMore ? await this.overrun(tx, changes, execution) : null;
    if (overrun !== null) throw new BudgetOverrun(overrun);
  }

  /** Records usage without a check of the budgets. True if some of it was not stored before. */
  async record(tx: Transaction, changes: CorrelationChanges, execution: Spender): Promise<boolean> {
    await recordToolCalls(tx, execution);
    const { agent, variant = null, usage, correlationId } = execution;
    if (usage) await this.report(tx, changes, correlationId, { agent, variant }, usage);
    return this.recordUsage(tx, changes, execution);
  }

  /**
   * Records an ended call of a running attempt: its usage counts, and its reservation no longer does. Returns a message
   * if a budget is exceeded, which happens when the call used more than it reserved; otherwise null.
   */
  async settle(tx: Transaction, changes: CorrelationChanges, execution: Spender): Promise<string | null> {
    await changes.get(execution.correlationId);
    await this.recordUsage(tx, changes, execution);
    await this.reservations.settle(tx, changes, execution);
    return this.overrun(tx, changes, execution);
  }

  /**
   * Counts calls of lost leases as their whole reservation, because their usage will never be reported. If their
   * process lives after all, its figures replace these. The next transaction that uses the budget does this: the one
   * that takes a lease over has locked executions, and the correlation must be locked before them. True if there were
   * such calls.
   */
  async settleLost(
    tx: Transaction,
    changes: CorrelationChanges,
    correlationId: string,
    exceptLease = '',
  ): Promise<boolean> {
    await changes.get(correlationId);
    const lost = await this.reservations.takeLost(tx, correlationId, exceptLease);
    for (const call of lost) {
      const taken = await this.countReserved(tx, changes, correlationId, call);
      await this.report(tx, changes, correlationId, { agent: call.agent, variant: null }, taken);
    }
    return lost.length > 0;
  }

  /**
   * Counts all reservations of a correlation that is about to be closed, so that calls count even if their process is
   * killed: no later transaction will use this budget. The figures of a live process replace them, and that process
   * reports the metrics. `countedLease`: the lease of an execution whose usage the caller has recorded. Call this
   * before the leases are revoked.
   */
  async close(tx: Transaction, changes: CorrelationChanges, correlationId: string, countedLease = ''): Promise<void> {
    for (const call of await this.reservations.takeAll(tx, correlationId, countedLease)) {
      const taken = await this.countReserved(tx, changes, correlationId, call);
      if (call.currentLease !== call.leaseToken)
        await this.report(tx, changes, correlationId, { agent: call.agent, variant: null }, taken);
    }
  }

  /**
   * These executions of a correlation have ended without an outcome. Counts the calls that they were making as their
   * whole reservations, as `settleLost` does, and no longer lets them wait for room. The caller has locked the
   * correlation.
   */
  async abandon(
    tx: Transaction,
    changes: CorrelationChanges,
    correlationId: string,
    executions: readonly Pick<Spender, 'id' | 'agent'>[],
  ): Promise<void> {
    if (!executions.some(({ agent }) => this.budgets.holdFor(agent))) return;
    await this.settleLost(tx, changes, correlationId);
    await this.reservations.drop(
      tx,
      changes,
      correlationId,
      executions.map(({ id }) => id),
    );
  }

  /** Reports usage to the metrics after the commit. */
  private async report(
    tx: Transaction,
    changes: CorrelationChanges,
    correlationId: string,
    work: Pick<AgentWork, 'agent' | 'variant'>,
    usage: AttemptUsage,
  ): Promise<void> {
    const origin = workOrigin(isReplay(await changes.get(correlationId)));
    tx.afterCommit(() => this.telemetry.modelUsed({ ...work, origin }, usage));
  }

  /** Counts a call as its whole reservation. */
  private async countReserved(
    tx: Transaction,
    changes: CorrelationChanges,
    correlationId: string,
    call: ReservedCall,
  ): Promise<AttemptUsage> {
    const { id, agent, attempt, leaseToken } = call;
    const [stored] = await findUsage(tx.db, { id, leaseToken });
    const taken = usageOf(call);
    const usage = addUsage(stored ? asUsage(stored) : null, taken);
    await this.recordUsage(tx, changes, { id, agent, attempt, leaseToken, correlationId, usage, hasReserved: true });
    return taken;
  }

  /**
   * Records the usage of an attempt whose outcome is dropped because its lease was lost, and saves the correlation. The
   * usage may be stored already, if the response to an earlier commit was lost.
   */
  async discard(tx: Transaction, changes: CorrelationChanges, execution: Spender): Promise<'discarded'> {
    if (!hasSpent(execution)) return 'discarded';
    await changes.get(execution.correlationId);
    const { id, leaseToken, hasReserved = false, usage } = execution;
    const find = usage && !hasReserved ? findUsage : findToolCall;
    const [recorded] = await find(tx.db, { id, leaseToken });
    if (!recorded) await this.record(tx, changes, execution);
    else if (hasReserved) await this.recordUsage(tx, changes, execution);
    if (hasReserved) await this.reservations.giveBack(tx, changes, execution, { itsOwn: true });
    await changes.save();
    return 'discarded';
  }

  private async overrun(tx: Transaction, changes: CorrelationChanges, execution: Spender): Promise<string | null> {
    const limits = await this.budgets.of(tx, changes, execution);
    return limits.map((limit) => shortage(limit)).find((overrun) => overrun !== null) ?? null;
  }

  /**
   * Stores the attempt's whole usage so far. If the attempt reserves, a part of it may be stored already, or more than
   * it used. True if the stored sum changes.
   */
  private async recordUsage(tx: Transaction, changes: CorrelationChanges, execution: Spender): Promise<boolean> {
    const { id, attempt, leaseToken, agent, correlationId, usage, hasReserved = false } = execution;
    const [stored] = hasReserved ? await findUsage(tx.db, { id, leaseToken }) : [];
    const used = usage ?? (stored && nothingOf(stored));
    if (!used) return false;
    const { inputTokens: input_tokens, outputTokens: output_tokens, cost, latencyMs, model } = used;
    const all = { input_tokens, output_tokens, cost, latency_ms: Math.round(latencyMs) };
    const at = changes.now;
    const more = stored ? since(stored, all) : { input_tokens, output_tokens, cost };
    if (stored && more.input_tokens === 0 && more.output_tokens === 0) return false;
    if (stored) await updateUsage(tx.db, { seq: stored.seq, ...all });
    else
      await insertUsage(tx.db, [
        { execution_id: id, attempt, lease_token: leaseToken, agent, correlation_id: correlationId, model, ...all, at },
      ]);
    await insertActivity(tx.db, [{ agent, hour: startOfHour(at), ...NO_EXECUTION, ...more }]);
    const correlation = await changes.get(correlationId);
    correlation.input_tokens += more.input_tokens;
    correlation.output_tokens += more.output_tokens;
    correlation.cost = addCosts(correlation.cost, more.cost);
    return true;
  }
}

async function recordToolCalls(tx: Transaction, { id, attempt, leaseToken, toolCalls = [] }: Spender): Promise<void> {
  await insertToolCalls(
    tx.db,
    toolCalls.map(({ server, tool, at, end }) => ({
      execution_id: id,
      attempt,
      lease_token: leaseToken,
      server,
      tool,
      outcome: end?.outcome ?? 'failed',
      at,
      duration_ms: end && Math.round(end.durationMs),
      result_bytes: end?.resultBytes ?? 0,
    })),
  );
}

const asUsage = ({ model, input_tokens, output_tokens, cost, latency_ms }: StoredUsage): AttemptUsage => ({
  model,
  inputTokens: Number(input_tokens),
  outputTokens: Number(output_tokens),
  cost,
  latencyMs: Number(latency_ms),
});

/** The duration of such a call is not known, so it is 0. */
const usageOf = ({ model, tokens, input_tokens, cost }: ReservedCall): AttemptUsage => {
  const inputTokens = Number(input_tokens);
  return {
    model,
    inputTokens,
    outputTokens: Number(tokens) - inputTokens,
    cost: cost > 0 ? cost : null,
    latencyMs: 0,
  };
};

/** Zero usage, for an attempt whose call was counted as reserved but was refused or never made. */
const nothingOf = ({ model, cost }: StoredUsage): AttemptUsage => ({
  model,
  inputTokens: 0,
  outputTokens: 0,
  cost: cost === null ? null : 0,
  latencyMs: 0,
});

const since = (stored: Sums, all: Sums): Sums => ({
  input_tokens: all.input_tokens - stored.input_tokens,
  output_tokens: all.output_tokens - stored.output_tokens,
  cost: all.cost === null ? null : all.cost - (stored.cost ?? 0),
});

/** Whether there is usage, a tool call or a reservation to record. */
export const hasSpent = ({ usage, toolCalls = [], hasReserved = false }: Spender): boolean =>
  Boolean(usage) || toolCalls.length > 0 || hasReserved;

const NO_EXECUTION = { executions: 0, failures: 0, artifacts_consumed: 0, artifacts_produced: 0 };
