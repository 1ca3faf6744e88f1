import { Injectable } from '@nestjs/common';
import type { Selectable } from 'kysely';
import type { ArtifactRow } from '../blackboard/artifact.js';
import type { ExecutionAttemptsTable, ExecutionsTable, ToolCallsTable, UsageTable } from '../database/schema.js';
import type { Reader } from '../database/unit-of-work.js';
import { type ExecutionFilter, newestOf } from './newest-executions.js';

export interface ListPage {
  limit: number;
  offset: number;
}

/** Of which one execution tells. */
const MOST_TOOL_CALLS = 1_000;

export type ExecutionRow = Selectable<ExecutionsTable>;

/** Reads executions and what belongs to them. */
@Injectable()
export class ExecutionsRepository {
  /** Newest first; one more than the page holds where there are more. */
  list(db: Reader, filter: ExecutionFilter, { limit, offset }: ListPage): Promise<ExecutionRow[]> {
    return db
      .with((cte) => cte('found').materialized(), () => newestOf(db, filter, offset + limit + 1))
      .with((cte) => cte('page').materialized(), (found) => found.selectFrom('found').select('seq').orderBy('seq', 'desc').limit(limit + 1).offset(offset))
      .selectFrom('page')
      .innerJoin('executions', 'executions.seq', 'page.seq')
      .selectAll('executions')
      .orderBy('page.seq', 'desc')
      .execute();
  }

  find(db: Reader, id: string): Promise<ExecutionRow | undefined> {
    return db.selectFrom('executions').selectAll().where('id', '=', id).executeTakeFirst();
  }

  /** In the order in which the agent sees them. */
  inputs(db: Reader, executionId: string): Promise<ArtifactRow[]> {
    return db
      .selectFrom('execution_inputs')
      .innerJoin('artifacts', 'artifacts.seq', 'execution_inputs.artifact_seq')
      .selectAll('artifacts')
      .where('execution_inputs.execution_id', '=', executionId)
      .orderBy('execution_inputs.position')
      .execute();
  }

  /** What it published, its errors included, in order. */
  outputs(db: Reader, executionId: string): Promise<ArtifactRow[]> {
    return db.selectFrom('artifacts').selectAll().where('execution_id', '=', executionId).orderBy('seq').execute();
  }

  /** One row for each attempt that used a model, in order; one that began again after a lost lease has several. */
  modelUses(db: Reader, executionId: string): Promise<Selectable<UsageTable>[]> {
    return db.selectFrom('usage').selectAll().where('execution_id', '=', executionId).orderBy('seq').execute();
  }

  /** The newest ones, in order. */
  async toolCalls(db: Reader, executionId: string): Promise<Selectable<ToolCallsTable>[]> {
    const newest = await db.selectFrom('tool_calls').selectAll().where('execution_id', '=', executionId).orderBy('seq', 'desc').limit(MOST_TOOL_CALLS).execute();
    return newest.reverse();
  }

  /** Those before the last one, in order. */
  failedAttempts(db: Reader, executionId: string): Promise<Selectable<ExecutionAttemptsTable>[]> {
    return db.selectFrom('execution_attempts').selectAll().where('execution_id', '=', executionId).orderBy('round').orderBy('attempt').execute();
  }
}
