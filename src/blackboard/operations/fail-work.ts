import { Injectable } from '@nestjs/common';

import { UnitOfWork } from '../../database/unit-of-work.js';
import { AgentRemoval } from './agent-removal.js';
import { countWaiting, findWaiting, READ_AT_ONCE } from './matching-rows.js';
import {
  inParts,
  type Operation,
  type OperationFilter,
  type OperationWork,
  type Start,
  type Step,
} from './operation.js';
import { WaitingExecutions } from './waiting-executions.js';

const FAILURE = { type: 'given_up', message: 'a request ended this execution while it waited' };

/** Fails executions that wait. For an agent alone, it fails everything that waits for this agent, which must be gone. */
@Injectable()
export class FailWork implements OperationWork {
  constructor(
    private readonly removal: AgentRemoval,
    private readonly waiting: WaitingExecutions,
    private readonly unitOfWork: UnitOfWork,
  ) {}

  /** Throws the DomainErrors of `AgentRemoval.check`. */
  async check(filter: OperationFilter): Promise<void> {
    const removed = removedAgent(filter);
    if (removed !== null) await this.removal.check(removed);
  }

  count(filter: OperationFilter, start: Start): Promise<number> {
    const removed = removedAgent(filter);
    return removed === null ? countWaiting(this.unitOfWork.reader, filter, start) : this.removal.count(removed, start);
  }

  async next(operation: Operation, filter: OperationFilter): Promise<Step[]> {
    const removed = removedAgent(filter);
    if (removed !== null) return this.removal.next(removed, operation);
    const found = await findWaiting(this.unitOfWork.reader, filter, operation, READ_AT_ONCE);
    return inParts(found).map((part) => ({
      position: operation.position,
      locks: [],
      run: async (tx) => {
        const ids = part.map(({ id }) => id);
        return { done: await this.waiting.fail(tx, ids, FAILURE), failed: 0, lastError: null };
      },
    }));
  }

  hasRoom(): boolean {
    return true;
  }
}

/** Returns the agent if the filter has nothing else. */
const removedAgent = ({ agent, ...others }: OperationFilter): string | null =>
  agent !== undefined && Object.values(others).every((value) => value === undefined) ? agent : null;
