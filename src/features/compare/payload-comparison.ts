import { Injectable } from '@nestjs/common';

import { findPayloads, findSizes } from '../../blackboard/queries/wire-rows.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import { MemoryBudget } from '../../common/memory-budget.js';
import { parsedSize } from '../../common/parsed-size.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { type Changes, changesOf, MOST_COMPARED } from './payload-changes.js';

/** Bytes of memory per byte of a text that is read: the characters, and the bytes that came from the database. */
const COPIES = 3;

/** Compares stored payloads, one pair after the other, within the memory budget. */
@Injectable()
export class PayloadComparison {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly memory: MemoryBudget,
  ) {}

  /**
   * Compares the payloads of two artifacts by their positions. Null if retention has deleted one of them meanwhile.
   * Throws DomainError `unavailable` if the memory budget has no room for both.
   */
  async of(left: number, right: number): Promise<Changes | null> {
    await yieldToEventLoop();
    const { reader } = this.unitOfWork;
    const sizes = await findSizes(reader, {}, [left, right]);
    const bytes = sizes.reduce((sum, size) => sum + Number(size.bytes), 0);
    const held = this.memory.reserve(COPIES * bytes);
    try {
      const rows = await findPayloads(reader, {}, [left, right]);
      const texts = new Map(rows.map(({ seq, payload }) => [seq, payload]));
      const [one, other] = [texts.get(left), texts.get(right)];
      if (one === undefined || other === undefined) return null;
      const parsed = one === other ? 0 : [one, other].reduce((sum, text) => sum + memoryFor(text), 0);
      held.resize(COPIES * bytes + parsed);
      return changesOf(one, other);
    } finally {
      held.release();
    }
  }
}

/** Twice: a difference contains the parsed value or its text once more. */
const memoryFor = (text: string): number => (text.length > MOST_COMPARED ? 0 : 2 * parsedSize(Buffer.from(text)));
