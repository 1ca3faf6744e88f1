import { sql } from 'kysely';

import type { Reader } from '../database/unit-of-work.js';

export type OpenExecutionRow = Awaited<ReturnType<typeof findOpenExecutions>>[number];

/** Finds the executions that have not ended, the oldest first. `waits` is set if one waits for room in a budget. */
export const findOpenExecutions = (db: Reader) =>
  db
    .selectFrom('executions')
    .leftJoin('agent_pauses', 'agent_pauses.agent', 'executions.agent')
    .leftJoin('budget_reservations as budget', (join) =>
      join.onRef('budget.execution_id', '=', 'executions.id').on('budget.waits', '=', sql.lit(1)),
    )
    .select([
      'executions.id',
      'executions.agent',
      'executions.state',
      'executions.available_at',
      'executions.lease_owner',
      'executions.lease_until',
      'agent_pauses.paused_at',
      'budget.waits',
    ])
    .where('executions.ended_at', 'is', null)
    .orderBy('executions.seq')
    .execute();

export const findTimers = (db: Reader) => db.selectFrom('timers').select(['kind', 'due_at']).execute();
