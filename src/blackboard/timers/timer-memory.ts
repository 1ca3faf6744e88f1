import { Injectable } from '@nestjs/common';

import { MemoryBudget } from '../../common/memory-budget.js';

/** The share of `memory_budget`. */
const SHARE_OF_BUDGET = 1 / 8;
/** Bytes of memory per byte of JSON text, for a parsed payload that consists of small values. An estimate. */
const TIMES = 30;

/**
 * Bytes for the artifacts that expressions evaluate when timers are due. Separate from the memory of executions, which
 * keep theirs while they run: otherwise a deadline could wait for the executions that it must cancel. A group that is
 * larger than the whole budget runs alone.
 */
@Injectable()
export class TimerMemory extends MemoryBudget {
  constructor(budget: MemoryBudget) {
    super(Math.floor(budget.limitBytes * SHARE_OF_BUDGET));
  }

  /** Waits for room, then runs `work`, which parses payloads of `bytes` bytes. */
  async forPayloads<T>(bytes: number, work: () => Promise<T>): Promise<T> {
    const reservation = await this.whenFree(TIMES * bytes);
    try {
      return await work();
    } finally {
      reservation.release();
    }
  }
}
