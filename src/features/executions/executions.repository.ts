import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';

import type { ExecutionAttemptsTable, ExecutionsTable, ToolCallsTable, UsageTable } from '../../database/schema.js';
import type { Reader } from '../../database/unit-of-work.js';
import { type ExecutionFilter, newestOf } from './newest-executions.js';

export interface ListPage {
  limit: number;
  offset: number;
}

/** Maximum number of tool calls, model uses and attempts that one execution shows; retries can add any number. */
const MOST_OF_A_KIND = 1_000;

export type ExecutionRow = Selectable<ExecutionsTable>;

/** Reads executions with their attempts, model uses and tool calls. */
@Injectable()
export class ExecutionsRepository {
  /** Returns the page, newest first, plus one further row where more rows match. */
  list(db: Reader, filter: ExecutionFilter, { limit, offset }: ListPage): Promise<ExecutionRow[]> {
    return db
      .with(
        (cte) => cte('found').materialized(),
        () => newestOf(db, filter, offset + limit + 1),
      )
      .with(
        (cte) => cte('page').materialized(),
        (found) =>
          found
            .selectFrom('found')
            .select('seq')
            .orderBy('seq', 'desc')
            .limit(limit + 1)
            .offset(offset),
      )
      .selectFrom('page')
      .innerJoin('executions', 'executions.seq', 'page.seq')
      .selectAll('executions')
      .orderBy('page.seq', 'desc')
      .execute();
  }

  find(db: Reader, id: string): Promise<ExecutionRow | undefined> {
    return db.selectFrom('executions').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /**
   * Returns the newest rows, oldest first. Each attempt that used a model has one row; an attempt that was repeated
   * after a lost lease has several.
   */
  async modelUses(db: Reader, executionId: string): Promise<Selectable<UsageTable>[]> {
    const newest = await db
      .selectFrom('usage')
      .selectAll()
      .where('execution_id', '=', executionId)
      .orderBy('seq', 'desc')
      .limit(MOST_OF_A_KIND)
      .execute();
    return newest.reverse();
  }

  /** Returns the newest tool calls, oldest first. */
  async toolCalls(db: Reader, executionId: string): Promise<Selectable<ToolCallsTable>[]> {
    const newest = await db
      .selectFrom('tool_calls')
      .selectAll()
      .where('execution_id', '=', executionId)
      .orderBy('seq', 'desc')
      .limit(MOST_OF_A_KIND)
      .execute();
    return newest.reverse();
  }

  /** Returns the newest attempts before the last one, oldest first. */
  async failedAttempts(db: Reader, executionId: string): Promise<Selectable<ExecutionAttemptsTable>[]> {
    const own = db.selectFrom('execution_attempts').selectAll().where('execution_id', '=', executionId);
    const newest = await own.orderBy('round', 'desc').orderBy('attempt', 'desc').limit(MOST_OF_A_KIND).execute();
    return newest.reverse();
  }
}
