import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { toTimestamp } from '../../common/timestamp.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { LiveEvents } from '../../pubsub/live-events.js';
import { batchBody } from './batch.js';
import { BatchesRepository } from './batches.repository.js';

/** Emits live events about the progress of batches while a stream wants them. */
@Injectable()
export class BatchEvents {
  constructor(
    private readonly clock: Clock,
    private readonly batches: BatchesRepository,
    private readonly liveEvents: LiveEvents,
  ) {}

  /** Emits `batch_progress`. Must be the last step of a transaction that changes the batch. */
  async changed(tx: Transaction, seq: number): Promise<void> {
    if (!this.liveEvents.areWanted) return;
    const batch = await this.batches.get(tx, seq);
    const { batch_id, status, total_items, completed_items, failed_items } = batchBody(batch);
    this.liveEvents.emitAfterCommit(tx, {
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
