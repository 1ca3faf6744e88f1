import { Injectable } from '@nestjs/common';

import { laterTurn } from '../../common/scheduler.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { FailedExecutions } from '../execution/failed-executions.js';
import { FailureGroups } from '../queries/failure-groups.repository.js';
import { DELETIONS } from '../retention/cleanup.js';
import { Backlog } from '../scheduling/backlog.js';
import { type FailedRow, findFailed, isMatch } from './matching-rows.js';
import {
  inParts,
  type Operation,
  type OperationFilter,
  type OperationWork,
  type Start,
  type Step,
} from './operation.js';

/** Retries failed executions. */
@Injectable()
export class RetryWork implements OperationWork {
  constructor(
    private readonly failedExecutions: FailedExecutions,
    private readonly groups: FailureGroups,
    private readonly backlog: Backlog,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  async check(): Promise<void> {}

  async count(filter: OperationFilter, start: Start): Promise<number> {
    const { failureGroup, agent, errorType, correlationId, from, to } = filter;
    if (correlationId === undefined && from === undefined && to === undefined) {
      const ids = { id: failureGroup ?? null, agent: agent ?? null, errorType: errorType ?? null };
      return this.groups.count({ ...ids, from: null, to: null });
    }
    let count = 0;
    for await (const { matching } of this.search(filter, start, 0)) count += matching.length;
    return count;
  }

  async next(operation: Operation, filter: OperationFilter): Promise<Step[]> {
    for await (const { matching, upTo } of this.search(filter, operation, operation.position)) {
      if (matching.length === 0) continue;
      const parts = inParts(matching);
      return parts.map((rows, index) => ({
        position: index === parts.length - 1 ? upTo : rows.at(-1)!.seq,
        locks: [DELETIONS],
        run: async (tx) => {
          const ids = rows.map(({ id }) => id);
          const { retried, refusals } = await this.failedExecutions.retryAll(tx, ids, operation.created_at);
          return { done: retried, failed: refusals.length, lastError: refusals.at(-1) ?? null };
        },
      }));
    }
    return [];
  }

  hasRoom(): boolean {
    return !this.backlog.isFull;
  }

  private async *search(
    filter: OperationFilter,
    start: Start,
    after: number,
  ): AsyncGenerator<{ matching: FailedRow[]; upTo: number }> {
    for (let position = after; ;) {
      const rows = await findFailed(this.unitOfWork.reader, filter, start, position);
      const last = rows.at(-1);
      if (!last) return;
      position = last.seq;
      yield { matching: rows.filter((row) => isMatch(row, filter, start)), upTo: position };
      // On SQLite, reading blocks the process.
      await laterTurn();
    }
  }
}
