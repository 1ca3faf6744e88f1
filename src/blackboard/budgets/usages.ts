import { Injectable } from '@nestjs/common';
import { Telemetry } from '../../common/telemetry.js';
import { places, prepared, preparedInsert } from '../../database/prepared.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlations/correlation-tracker.js';
import type { ToolCall, ToolCallEnd } from '../../engines/engine.js';
import { addCosts, addUsage, type AttemptUsage } from './attempt-usage.js';
import { shortage } from './budget-room.js';
import { Budgets } from './budgets.js';
import { type ReservedCall, BudgetReservations } from './budget-reservations.js';

/** Its message says which budget. */
export class BudgetOverrun extends Error {}

/** Whose attempt it was that used something. */
export interface Spender {
  id: string;
  agent: string;
  correlationId: string;
  attempt: number;
  leaseToken: string;
  /** Null where it used no model. */
  usage?: AttemptUsage | null;
  toolCalls?: readonly RecordedCall[];
  /** Its calls of models reserve what they may take. Absent where another process may have run it. */
  hasReserved?: boolean;
}

/** `end` is null while it goes on. */
export type RecordedCall = ToolCall & { end: ToolCallEnd | null };

const HOUR_MS = 3_600_000;

/** Writes what attempts used of models and called of tools, and holds the budgets. */
@Injectable()
export class Usages {
  constructor(
    private readonly budgets: Budgets,
    private readonly reservations: BudgetReservations,
    private readonly telemetry: Telemetry,
  ) {}

  /** In the transaction of the outcome. BudgetOverrun where it was too much; the transaction is then to be undone. The caller holds the correlation. */
  async spend(tx: Transaction, changes: CorrelationChanges, execution: Spender): Promise<void> {
    const isMore = await this.record(tx, changes, execution);
    // Of one that another process ran, it is not known.
    if (execution.hasReserved ?? this.budgets.holdFor(execution.agent)) {
      await this.settleLost(tx, changes, execution.correlationId, execution.leaseToken);
      await this.reservations.giveBack(tx, changes, execution);
    }
    const overrun = isMore ? await this.overrun(tx, changes, execution) : null;
    if (overrun !== null) throw new BudgetOverrun(overrun);
  }

  /** The same whatever the budgets say. True where it had used something that was not stored yet. */
  async record(tx: Transaction, changes: CorrelationChanges, execution: Spender): Promise<boolean> {
    await recordToolCalls(tx, execution);
    const { agent, usage } = execution;
    if (usage) tx.afterCommit(() => this.telemetry.modelUsed(agent, usage));
    return this.recordUsage(tx, changes, execution);
  }

  /**
   * A call of an attempt that goes on has ended: what it took counts from now on, and what was reserved for it no longer. Which budget that
   * overruns, although there was room for what it was to take; null where none.
   */
  async settle(tx: Transaction, changes: CorrelationChanges, execution: Spender): Promise<string | null> {
    await changes.get(execution.correlationId);
    await this.recordUsage(tx, changes, execution);
    await this.reservations.settle(tx, changes, execution);
    return this.overrun(tx, changes, execution);
  }

  /**
   * Calls whose leases have gone to others count as all that was reserved for them, because no figures will come. Where their process
   * lives after all, its own figures replace these. It is done by the next one that looks at the budget, since who takes a lease over
   * holds executions, which may only be asked for after the correlation. True where there were any.
   */
  async settleLost(tx: Transaction, changes: CorrelationChanges, correlationId: string, exceptLease = ''): Promise<boolean> {
    await changes.get(correlationId);
    const lost = await this.reservations.takeLost(tx, correlationId, exceptLease);
    for (const call of lost) {
      const taken = await this.countReserved(tx, changes, correlationId, call);
      tx.afterCommit(() => this.telemetry.modelUsed(call.agent, taken));
    }
    return lost.length > 0;
  }

  /**
   * The correlation is about to be closed, and nobody will look at its budget again: what all its calls have reserved counts now, so that it
   * counts where a process is killed too. The figures of a process that lives replace it, and that process tells the metrics. `countedLease`:
   * of an execution whose usage the caller has recorded. To be called while the leases still hold.
   */
  async close(tx: Transaction, changes: CorrelationChanges, correlationId: string, countedLease = ''): Promise<void> {
    for (const call of await this.reservations.takeAll(tx, correlationId, countedLease)) {
      const taken = await this.countReserved(tx, changes, correlationId, call);
      if (call.currentLease !== call.leaseToken) tx.afterCommit(() => this.telemetry.modelUsed(call.agent, taken));
    }
  }

  /** Counts a call as all that was reserved for it. */
  private async countReserved(tx: Transaction, changes: CorrelationChanges, correlationId: string, call: ReservedCall): Promise<AttemptUsage> {
    const { id, agent, attempt, leaseToken } = call;
    const [stored] = await findUsage(tx.db, { id, leaseToken });
    const taken = usageOf(call);
    const usage = addUsage(stored ? asUsage(stored) : null, taken);
    await this.recordUsage(tx, changes, { id, agent, attempt, leaseToken, correlationId, usage, hasReserved: true });
    return taken;
  }

  /** As `record` for one whose outcome is not to be committed: it may have been, where the answer to its commit was lost. */
  async recordOnce(tx: Transaction, changes: CorrelationChanges, execution: Spender): Promise<void> {
    if (!hasSpent(execution)) return;
    await changes.get(execution.correlationId);
    const { id, leaseToken, hasReserved = false, usage } = execution;
    const find = usage && !hasReserved ? findUsage : findToolCall;
    const [recorded] = await find(tx.db, { id, leaseToken });
    if (!recorded) await this.record(tx, changes, execution);
    else if (hasReserved) await this.recordUsage(tx, changes, execution);
    if (hasReserved) await this.reservations.giveBack(tx, changes, execution, { itsOwn: true });
  }

  private async overrun(tx: Transaction, changes: CorrelationChanges, execution: Spender): Promise<string | null> {
    const limits = await this.budgets.of(tx, changes, execution);
    return limits.map((limit) => shortage(limit)).find((overrun) => overrun !== null) ?? null;
  }

  /** All that the attempt has used so far; of one that reserves, parts of it may be stored already, or more than it used. True where the sum changes. */
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
    else await insertUsage(tx.db, [{ execution_id: id, attempt, lease_token: leaseToken, agent, correlation_id: correlationId, model, ...all, at }]);
    await insertActivity(tx.db, [{ agent, hour: at - (at % HOUR_MS), ...NO_EXECUTION, ...more }]);
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

interface Sums {
  input_tokens: number;
  output_tokens: number;
  cost: number | null;
}

type StoredUsage = Sums & { seq: number; model: string; latency_ms: number };

const asUsage = ({ model, input_tokens, output_tokens, cost, latency_ms }: StoredUsage): AttemptUsage => ({
  model,
  inputTokens: Number(input_tokens),
  outputTokens: Number(output_tokens),
  cost,
  latencyMs: Number(latency_ms),
});

/** How long it took is not known. */
const usageOf = ({ model, tokens, input_tokens, cost }: ReservedCall): AttemptUsage => {
  const inputTokens = Number(input_tokens ?? 0);
  return { model: model ?? 'unknown', inputTokens, outputTokens: Number(tokens) - inputTokens, cost: cost > 0 ? cost : null, latencyMs: 0 };
};

/** Of an attempt whose call counted as reserved and was never made, or refused. */
const nothingOf = ({ model, cost }: StoredUsage): AttemptUsage => ({ model, inputTokens: 0, outputTokens: 0, cost: cost === null ? null : 0, latencyMs: 0 });

const since = (stored: Sums, all: Sums): Sums => ({
  input_tokens: all.input_tokens - stored.input_tokens,
  output_tokens: all.output_tokens - stored.output_tokens,
  cost: all.cost === null ? null : all.cost - (stored.cost ?? 0),
});

/** Whether there is anything to record. */
export const hasSpent = ({ usage, toolCalls = [], hasReserved = false }: Spender): boolean => Boolean(usage) || toolCalls.length > 0 || hasReserved;

const NO_EXECUTION = { executions: 0, failures: 0, artifacts_consumed: 0, artifacts_produced: 0 };

const insertUsage = preparedInsert('usage', [
  'execution_id',
  'attempt',
  'lease_token',
  'agent',
  'correlation_id',
  'model',
  'input_tokens',
  'output_tokens',
  'cost',
  'latency_ms',
  'at',
]);

const insertToolCalls = preparedInsert('tool_calls', [
  'execution_id',
  'attempt',
  'lease_token',
  'server',
  'tool',
  'outcome',
  'at',
  'duration_ms',
  'result_bytes',
]);

const insertActivity = preparedInsert('activity', [
  'agent',
  'hour',
  'executions',
  'failures',
  'artifacts_consumed',
  'artifacts_produced',
  'input_tokens',
  'output_tokens',
  'cost',
]);

const updateUsage = prepared<Sums & { seq: number; latency_ms: number }, unknown>((db, place) =>
  db.updateTable('usage').set(places(place, ['input_tokens', 'output_tokens', 'cost', 'latency_ms'])).where('seq', '=', place('seq')),
);

const findUsage = prepared<{ id: string; leaseToken: string }, StoredUsage>((db, place) =>
  db.selectFrom('usage').select(['seq', 'model', 'input_tokens', 'output_tokens', 'cost', 'latency_ms']).where('execution_id', '=', place('id')).where('lease_token', '=', place('leaseToken')).limit(1),
);

const findToolCall = prepared<{ id: string; leaseToken: string }, { seq: number }>((db, place) =>
  db.selectFrom('tool_calls').select('seq').where('execution_id', '=', place('id')).where('lease_token', '=', place('leaseToken')).limit(1),
);
