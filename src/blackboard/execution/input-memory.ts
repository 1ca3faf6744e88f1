import { Injectable } from '@nestjs/common';
import { MemoryBudget } from '../../common/memory-budget.js';

/** Of what the budget for clients' data has. */
const SHARE_OF_BUDGET = 1 / 2;

/**
 * Bytes for the inputs of the executions that run in this process. They are apart from the budget for requests, so that neither has to
 * wait for the other: an execution keeps its inputs for as long as it runs.
 */
@Injectable()
export class InputMemory extends MemoryBudget {
  constructor(budget: MemoryBudget) {
    super(Math.floor(budget.limitBytes * SHARE_OF_BUDGET));
  }

  /** What `memory_budget` has to be for one execution to get so much. */
  budgetFor(bytes: number): number {
    return Math.ceil((bytes / this.largestBytes) * (this.limitBytes / SHARE_OF_BUDGET));
  }
}
