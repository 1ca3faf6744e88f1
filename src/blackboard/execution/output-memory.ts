import { Injectable } from '@nestjs/common';

import { MemoryBudget } from '../../common/memory-budget.js';

/** The share of `memory_budget`. */
const SHARE_OF_BUDGET = 1 / 8;

/**
 * Bytes for the defaults of types in outputs that are being stored. Separate from the memory of answers, because an
 * execution keeps its answer while it waits for this.
 */
@Injectable()
export class OutputMemory extends MemoryBudget {
  constructor(budget: MemoryBudget) {
    super(Math.floor(budget.limitBytes * SHARE_OF_BUDGET));
  }
}
