import { Injectable } from '@nestjs/common';

import { MemoryBudget } from '../../common/memory-budget.js';

/** The share of `memory_budget`. */
const SHARE_OF_BUDGET = 1 / 2;

/**
 * Bytes for the inputs of the executions that run in this process. Separate from the budget for requests, so that
 * requests do not wait for executions, which keep their inputs while they run.
 */
@Injectable()
export class InputMemory extends MemoryBudget {
  constructor(budget: MemoryBudget) {
    super(Math.floor(budget.limitBytes * SHARE_OF_BUDGET));
  }

  /** The `memory_budget` with which one execution can have inputs of `bytes` bytes. */
  budgetFor(bytes: number): number {
    return Math.ceil((bytes / this.largestBytes) * (this.limitBytes / SHARE_OF_BUDGET));
  }
}
