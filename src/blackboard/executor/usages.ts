import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';
import { Catalog } from '../../catalog/catalog.js';
import type { Budget } from '../../catalog/costs.js';
import { Telemetry } from '../../common/telemetry.js';
import { prepared, preparedInsert } from '../../database/prepared.js';
import type { Transaction } from '../../database/unit-of-work.js';
import type { CorrelationChanges } from '../correlation-tracker.js';
import type { ToolCall, ToolCallEnd } from '../../engines/engine.js';
import { addCosts, type AttemptUsage } from './attempt-usage.js';

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
}

/** `end` is null while it goes on. */
export type RecordedCall = ToolCall & { end: ToolCallEnd | null };

/** Used by an agent, or by all, in one correlation. */
interface Spent {
  tokens: number;
  cost: number;
}

const HOUR_MS = 3_600_000;

/** Writes what attempts used of models and called of tools, in the transaction of their outcome, and holds the budgets. */
@Injectable()
export class Usages {
  constructor(
    private readonly catalog: Catalog,
    private readonly telemetry: Telemetry,
  ) {}

  /** BudgetOverrun where it was too much; the transaction is then to be undone. The caller holds the correlation. */
  async spend(tx: Transaction, changes: CorrelationChanges, execution: Spender): Promise<void> {
    await this.record(tx, changes, execution);
    if (!execution.usage) return;
    const { budget } = this.catalog;
    if (budget) {
      const { input_tokens, output_tokens, cost } = await changes.get(execution.correlationId);
      refuseOverrun('this correlation', { tokens: input_tokens + output_tokens, cost: cost ?? 0 }, budget);
    }
    const own = this.catalog.agent(execution.agent)?.budget;
    if (own) {
      const [spent] = await spentBy(tx.db, { correlationId: execution.correlationId, agent: execution.agent });
      refuseOverrun(`${execution.agent} in this correlation`, { tokens: Number(spent!.tokens), cost: Number(spent!.cost) }, own);
    }
  }

  /** The same whatever the budgets say. */
  async record(tx: Transaction, changes: CorrelationChanges, { id, attempt, leaseToken, agent, correlationId, usage, toolCalls = [] }: Spender): Promise<void> {
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
    if (!usage) return;
    const { model, inputTokens, outputTokens, cost, latencyMs } = usage;
    const sums = { input_tokens: inputTokens, output_tokens: outputTokens, cost };
    const at = changes.now;
    const what = { execution_id: id, attempt, lease_token: leaseToken, agent, correlation_id: correlationId };
    await insertUsage(tx.db, [{ ...what, model, ...sums, latency_ms: Math.round(latencyMs), at }]);
    await insertActivity(tx.db, [{ agent, hour: at - (at % HOUR_MS), ...NO_EXECUTION, ...sums }]);
    const correlation = await changes.get(correlationId);
    correlation.input_tokens += inputTokens;
    correlation.output_tokens += outputTokens;
    correlation.cost = addCosts(correlation.cost, cost);
    tx.afterCommit(() => this.telemetry.modelUsed(agent, usage));
  }

  /** The same for one whose outcome is not to be committed: it may have been, where the answer to its commit was lost. */
  async recordOnce(tx: Transaction, changes: CorrelationChanges, execution: Spender): Promise<void> {
    if (!hasSpent(execution)) return;
    await changes.get(execution.correlationId);
    const find = execution.usage ? findUsage : findToolCall;
    const [recorded] = await find(tx.db, { id: execution.id, leaseToken: execution.leaseToken });
    if (!recorded) await this.record(tx, changes, execution);
  }
}

/** Whether there is anything to record. */
export const hasSpent = ({ usage, toolCalls = [] }: Spender): boolean => Boolean(usage) || toolCalls.length > 0;

function refuseOverrun(who: string, spent: Spent, budget: Budget): void {
  const [limit, used] =
    budget.tokens !== null && spent.tokens > budget.tokens
      ? [`${budget.tokens} tokens`, `${spent.tokens}`]
      : budget.cost !== null && spent.cost > budget.cost
        ? [`a cost of ${budget.cost}`, `${Number(spent.cost.toPrecision(6))}`]
        : [];
  if (limit === undefined) return;
  throw new BudgetOverrun(`${who} has a budget of ${limit} and has used ${used}: it is ended here; raise budget if that was meant`);
}

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

const findUsage = prepared<{ id: string; leaseToken: string }, { seq: number }>((db, place) =>
  db.selectFrom('usage').select('seq').where('execution_id', '=', place('id')).where('lease_token', '=', place('leaseToken')).limit(1),
);

const findToolCall = prepared<{ id: string; leaseToken: string }, { seq: number }>((db, place) =>
  db.selectFrom('tool_calls').select('seq').where('execution_id', '=', place('id')).where('lease_token', '=', place('leaseToken')).limit(1),
);

// With what retention has deleted since.
const spentBy = prepared<{ correlationId: string; agent: string }, { tokens: number | string; cost: number | string }>((db, place) =>
  db
    .selectFrom(
      db
        .selectFrom('usage')
        .select([sql<number>`input_tokens + output_tokens`.as('tokens'), 'cost'])
        .where('correlation_id', '=', place('correlationId'))
        .where('agent', '=', place('agent'))
        .unionAll(
          db
            .selectFrom('deleted_usage')
            .select(['tokens', 'cost'])
            .where('correlation_id', '=', place('correlationId'))
            .where('agent', '=', place('agent')),
        )
        .as('spent'),
    )
    .select(({ fn }) => [fn.coalesce(fn.sum<number>('tokens'), sql.lit(0)).as('tokens'), fn.coalesce(fn.sum<number>('cost'), sql.lit(0)).as('cost')]),
);
