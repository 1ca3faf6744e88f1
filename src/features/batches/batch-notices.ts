import { Injectable } from '@nestjs/common';
import { Clock } from '../../common/clock.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { Notices } from '../../pubsub/notices.js';
import { batchBody } from './batch.js';
import { BatchesRepository } from './batches.repository.js';

/** Tells streams how batches get on, where any asks. */
@Injectable()
export class BatchNotices {
  constructor(
    private readonly clock: Clock,
    private readonly batches: BatchesRepository,
    private readonly notices: Notices,
  ) {}

  /** The last step of a transaction that has moved the batch on. */
  async changed(tx: Transaction, seq: number): Promise<void> {
    if (!this.notices.areWanted) return;
    const batch = await this.batches.get(tx, seq);
    const { batch_id, status, total_items, completed_items, failed_items } = batchBody(batch, []);
    this.notices.tellAfter(tx, {
      event_type: 'batch_progress',
      batch_id,
      agent: batch.agent,
      status,
      total_items,
      completed_items,
      failed_items,
      timestamp: toTimestamp(this.clock.now()),
    });
  }
}
