import { Injectable } from '@nestjs/common';
import { sql } from 'kysely';

import { inParts } from '../../blackboard/explain/trace-rows.js';
import type { ExecutionState } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';

interface Sums {
  input_tokens: number | null;
  output_tokens: number | null;
  cost: number | null;
}

export type ComparedExecutionRow = Sums & {
  id: string;
  state: ExecutionState;
  started_at: number | null;
  ended_at: number | null;
  attempts: number;
};

export type AgentTotalsRow = Sums & {
  agent: string;
  executions: number;
  failed: number;
  attempts: number;
  duration_ms: number | null;
};

/** 1 if the last attempt of an execution has started. Earlier attempts have separate rows. */
const HAS_STARTED = sql<number>`case when state <> 'pending' and attempt_started_at is not null then 1 else 0 end`;

/** Reads how long executions took, and what they used. */
@Injectable()
export class ComparedExecutions {
  find(reader: Reader, ids: readonly string[]): Promise<ComparedExecutionRow[]> {
    return inParts(ids, async (part) => {
      const rows = await reader
        .selectFrom('executions')
        .select(['id', 'state', 'started_at', 'ended_at', HAS_STARTED.as('last_attempts')])
        .where('id', 'in', part)
        .execute();
      const earlier = await reader
        .selectFrom('execution_attempts')
        .select(['execution_id', ({ fn }) => fn.countAll<number>().as('attempts')])
        .where('execution_id', 'in', part)
        .where('started_at', 'is not', null)
        .groupBy('execution_id')
        .execute();
      const usages = await reader
        .selectFrom('usage')
        .select(['execution_id', ...SUMS])
        .where('execution_id', 'in', part)
        .groupBy('execution_id')
        .execute();
      const attempts = new Map(earlier.map((row) => [row.execution_id, row.attempts]));
      const usageOf = new Map(usages.map((row) => [row.execution_id, row]));
      return rows.map(({ last_attempts, ...row }) => ({
        ...row,
        attempts: last_attempts + (attempts.get(row.id) ?? 0),
        ...sumsOf(usageOf.get(row.id)),
      }));
    });
  }

  /** Adds up the executions of each agent in a correlation, sorted by agent. */
  async totals(reader: Reader, correlationId: string): Promise<AgentTotalsRow[]> {
    const rows = await reader
      .selectFrom('executions')
      .select(({ fn }) => [
        'agent',
        fn.countAll<number>().as('executions'),
        sql<number>`sum(case when state = 'failed' then 1 else 0 end)`.as('failed'),
        fn.sum<number>(HAS_STARTED).as('last_attempts'),
        sql<number | null>`sum(ended_at - started_at)`.as('duration_ms'),
      ])
      .where('correlation_id', '=', correlationId)
      .groupBy('agent')
      .orderBy('agent')
      .execute();
    const earlier = await reader
      .selectFrom('executions')
      .innerJoin('execution_attempts', 'execution_attempts.execution_id', 'executions.id')
      .select(['agent', ({ fn }) => fn.countAll<number>().as('attempts')])
      .where('correlation_id', '=', correlationId)
      .where('execution_attempts.started_at', 'is not', null)
      .groupBy('agent')
      .execute();
    const usages = await reader
      .selectFrom('usage')
      .select(['agent', ...SUMS])
      .where('correlation_id', '=', correlationId)
      .groupBy('agent')
      .execute();
    const attempts = new Map(earlier.map((row) => [row.agent, row.attempts]));
    const usageOf = new Map(usages.map((row) => [row.agent, row]));
    return rows.map(({ last_attempts, ...row }) => ({
      ...row,
      attempts: last_attempts + (attempts.get(row.agent) ?? 0),
      ...sumsOf(usageOf.get(row.agent)),
    }));
  }
}

const SUMS = [
  sql<number | null>`sum(input_tokens)`.as('input_tokens'),
  sql<number | null>`sum(output_tokens)`.as('output_tokens'),
  sql<number | null>`sum(cost)`.as('cost'),
] as const;

const sumsOf = (sums: Sums | undefined): Sums => ({
  input_tokens: sums?.input_tokens ?? null,
  output_tokens: sums?.output_tokens ?? null,
  cost: sums?.cost ?? null,
});
