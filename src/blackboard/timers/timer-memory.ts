import { Injectable } from '@nestjs/common';
import { MemoryBudget } from '../../common/memory-budget.js';

/** Of what the budget for clients' data has. */
const SHARE_OF_BUDGET = 1 / 8;
/** About what a payload takes, parsed, for each byte of its text where that is full of small values. */
const TIMES = 30;

/**
 * Bytes for the artifacts that expressions are asked about when timers are due. Apart from those of executions, which keep theirs for as
 * long as they run: a deadline is to end them. What is larger than the whole goes alone.
 */
@Injectable()
export class TimerMemory extends MemoryBudget {
  constructor(budget: MemoryBudget) {
    super(Math.floor(budget.limitBytes * SHARE_OF_BUDGET));
  }

  /** Does `work`, which parses payloads of so many bytes, when there is room for them. */
  async forPayloads<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const reservation = await this.whenFree(TIMES * bytes);
    try {
      return await work();
    } finally {
      reservation.release();
    }
  }
}
