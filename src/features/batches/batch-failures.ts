import { Injectable } from '@nestjs/common';

import { yieldToEventLoop } from '../../common/event-loop.js';
import { normalisedMessage } from '../../common/failure-group.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { type BatchRow, shownRound } from './batch.js';
import { BatchRowsRepository, type FailedRow } from './batch-rows.repository.js';
import type { BatchFailureBody, BatchFailuresBody } from './dto/batch-failures-body.js';

/** Number of rows that one query reads. After it, other requests can run. */
const WINDOW = 1_000;
/** Bounds the memory: further groups are counted together. */
const MOST_KEPT = 1_000;
const MOST_SHOWN = 100;

/** Groups the failed items of a batch by their error messages. */
@Injectable()
export class BatchFailures {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly rows: BatchRowsRepository,
  ) {}

  async list(batch: BatchRow): Promise<BatchFailuresBody> {
    const groups = new Groups();
    const { seq, total_items: total } = batch;
    for (let low = 0; low < total; low += WINDOW) {
      const stretch = { seq, round: shownRound(batch), low, high: low + WINDOW };
      for (const row of await this.rows.failed(this.unitOfWork.reader, stretch)) groups.add(row);
      await yieldToEventLoop();
    }
    return groups.body();
  }
}

class Groups {
  private readonly byMessage = new Map<string, BatchFailureBody>();
  private otherItems = 0;

  add({ position, run_id, error, items }: FailedRow): void {
    const message = normalisedMessage(error ?? '');
    const group = this.byMessage.get(message);
    if (group) group.items += items;
    else if (this.byMessage.size < MOST_KEPT)
      this.byMessage.set(message, { message, items, first_index: position, first_run_id: run_id });
    else this.otherItems += items;
  }

  body(): BatchFailuresBody {
    const sorted = [...this.byMessage.values()].sort((one, other) => other.items - one.items);
    const hidden = sorted.slice(MOST_SHOWN).reduce((sum, { items }) => sum + items, this.otherItems);
    return { groups: sorted.slice(0, MOST_SHOWN), other_items: hidden };
  }
}
