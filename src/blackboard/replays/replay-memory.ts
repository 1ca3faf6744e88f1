import { Injectable } from '@nestjs/common';

import { DomainError } from '../../common/domain-error.js';
import { MemoryBudget } from '../../common/memory-budget.js';

/** Reserves the memory of replays. */
@Injectable()
export class ReplayMemory {
  constructor(private readonly memory: MemoryBudget) {}

  /**
   * Reserves `bytes` for a replay of the correlation while `work` runs. `work` may change the reservation to another
   * number of bytes. DomainError: `conflict` if so many can never be reserved, `unavailable` if they are not free now.
   */
  async during<T>(
    correlationId: string,
    bytes: number,
    work: (hold: (bytes: number) => void) => Promise<T>,
  ): Promise<T> {
    const held = this.memory.reserve(0);
    const hold = (wanted: number): void => {
      if (wanted > this.memory.largestBytes) throw tooLarge(correlationId, wanted, this.memory.largestBytes);
      held.resize(wanted);
    };
    try {
      hold(bytes);
      return await work(hold);
    } finally {
      held.release();
    }
  }
}

const tooLarge = (id: string, bytes: number, most: number): DomainError =>
  new DomainError(
    'conflict',
    `Correlation ${id} is too large: its replay takes ${bytes} bytes of memory, and memory_budget allows ${most} to one request; increase memory_budget`,
  );
