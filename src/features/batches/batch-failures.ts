import { Injectable } from '@nestjs/common';

import { yieldToEventLoop } from '../../common/event-loop.js';
import { normalisedMessage } from '../../common/failure-group.js';
import { scheduler } from '../../common/scheduler.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { type BatchRow, shownRound } from './batch.js';
import { BatchRowsRepository, type FailedRow } from './batch-rows.repository.js';
import type { BatchFailureBody, BatchFailuresBody } from './dto/batch-failures-body.js';

/** Number of rows that one query reads. After it, other requests can run. */
const WINDOW = 1_000;
/** Bounds the memory: further groups are counted together. */
const MOST_KEPT = 1_000;
const MOST_SHOWN = 100;

/** Number of batches whose latest answers are kept. */
const MOST_BATCHES = 100;
/** Reading rows takes at most a twentieth of the time. */
const PAUSE_FACTOR = 20;

/** An answer, and what the batch was like when its rows were read. */
interface Kept extends Pick<BatchRow, 'round' | 'status' | 'failed_items'> {
  /** The answer is kept until then (`scheduler.elapsed()`), even if further items have failed. */
  until: number;
  body: Promise<BatchFailuresBody>;
}

/** Groups the failed items of a batch by their error messages. */
@Injectable()
export class BatchFailures {
  private readonly kept = new Map<string, Kept>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly rows: BatchRowsRepository,
  ) {}

  /**
   * Reads the rows only if the batch or the number of its failed items has changed. While items fail, the answer may be
   * a moment old.
   */
  list(batch: BatchRow): Promise<BatchFailuresBody> {
    const { id, round, status, failed_items } = batch;
    const last = this.kept.get(id);
    if (last?.round === round && last.status === status) {
      if (last.failed_items === failed_items || scheduler.elapsed() < last.until) return last.body;
    }
    const kept: Kept = { round, status, failed_items, until: Infinity, body: this.read(batch) };
    this.keep(id, kept);
    return kept.body;
  }

  private keep(id: string, kept: Kept): void {
    const startedAt = scheduler.elapsed();
    this.kept.delete(id);
    this.kept.set(id, kept);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MOST_BATCHES) this.kept.delete(oldest!);
    kept.body.then(
      () => {
        const endedAt = scheduler.elapsed();
        kept.until = endedAt + PAUSE_FACTOR * (endedAt - startedAt);
      },
      // The next caller tries again.
      () => this.kept.get(id) === kept && this.kept.delete(id),
    );
  }

  private async read(batch: BatchRow): Promise<BatchFailuresBody> {
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
