import { Injectable } from '@nestjs/common';

import { MemoryBudget, type MemoryReservation } from '../../common/memory-budget.js';
import { parsedSize } from '../../common/parsed-size.js';
import { EngineFailure } from '../../engines/engine-answers.js';

/** The share of `memory_budget`. */
const SHARE_OF_BUDGET = 1 / 2;
/** The engine parses the answer, and its outputs are parsed once more when they are checked. */
const TIMES_PARSED = 2;

const MIB = 1_024 ** 2;

/**
 * Bytes for parsed answers that come from outside the process. Separate from the memory for inputs: an execution
 * reserves this while it keeps its inputs, and reserves nothing more afterwards, so executions cannot wait for each
 * other.
 */
@Injectable()
export class AnswerMemory extends MemoryBudget {
  constructor(budget: MemoryBudget) {
    super(Math.floor(budget.limitBytes * SHARE_OF_BUDGET));
  }

  /**
   * Waits for room. Rejects with the signal's reason, or with an EngineFailure if the answer is larger than the budget.
   */
  async forAnswer(text: string, signal: AbortSignal): Promise<MemoryReservation> {
    const bytes = TIMES_PARSED * parsedSize(Buffer.from(text));
    if (bytes > this.largestBytes) throw tooLarge(bytes, this.largestBytes);
    return this.reserveNow(bytes) ?? this.whenWithin(bytes, signal);
  }
}

const tooLarge = (bytes: number, most: number): EngineFailure =>
  new EngineFailure(
    'output',
    `the answer needs ${Math.ceil(bytes / MIB)} MiB of memory, but memory_budget allows ${Math.floor(most / MIB)} MiB for one answer; raise it, or send a smaller answer`,
  );
