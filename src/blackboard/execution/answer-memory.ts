import { Injectable } from '@nestjs/common';
import { MemoryBudget, type MemoryReservation } from '../../common/memory-budget.js';
import { parsedSize } from '../../common/parsed-size.js';
import { EngineFailure } from '../../engines/engine-failure.js';

/** Of what the budget for clients' data has. */
const SHARE_OF_BUDGET = 1 / 2;
/** An engine parses an answer, and what will be stored of it is parsed once more to be checked. */
const TIMES_PARSED = 2;

const MIB = 1_024 ** 2;

/**
 * Bytes for what is parsed of answers that come from outside. Apart from those for inputs: an execution asks for these while it keeps its
 * inputs, and nothing that has an answer asks for more.
 */
@Injectable()
export class AnswerMemory extends MemoryBudget {
  constructor(budget: MemoryBudget) {
    super(Math.floor(budget.limitBytes * SHARE_OF_BUDGET));
  }

  /** Waits for its turn. Rejects with the signal's reason, or with an EngineFailure where the answer can never find room. */
  async forAnswer(text: string, signal: AbortSignal): Promise<MemoryReservation> {
    const bytes = TIMES_PARSED * parsedSize(Buffer.from(text));
    if (bytes > this.largestBytes) throw tooLarge(bytes, this.largestBytes);
    return this.reserveNow(bytes) ?? this.whenWithin(bytes, signal);
  }
}

const tooLarge = (bytes: number, most: number): EngineFailure =>
  new EngineFailure('output', `the answer would take ${Math.ceil(bytes / MIB)} MiB of memory, and memory_budget leaves ${Math.floor(most / MIB)} MiB to one answer; raise it, or answer less`);
