import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { RunsService } from '../runs/runs.service.js';
import { batchBody, batchNotFound } from './batch.js';
import { BatchDispatcher } from './batch-dispatcher.js';
import { BatchEvents } from './batch-events.js';
import { BatchesRepository } from './batches.repository.js';
import type { BatchBody } from './dto/batch-body.js';
import { WaitingBytes, waitingBytes } from './waiting-bytes.js';

/** Cancels batches, and runs their failed items again. */
@Injectable()
export class BatchControlService {
  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly batches: BatchesRepository,
    private readonly dispatcher: BatchDispatcher,
    private readonly events: BatchEvents,
    private readonly runs: RunsService,
    private readonly waiting: WaitingBytes,
  ) {}

  /** Throws DomainError `not_found`, or `conflict` if it has ended. */
  async cancel(id: string): Promise<BatchBody> {
    await this.unitOfWork.run(async (tx) => {
      // Locks runs before their batch, as the end of a run does. The second call cancels runs that were begun
      // meanwhile.
      if ((await this.batches.find(tx.db, id))?.status === 'running') await this.runs.cancelBatch(tx, id);
      const batch = await this.batches.hold(tx, id);
      if (!batch) throw batchNotFound(id);
      if (batch.status !== 'running')
        throw new DomainError('conflict', `Batch ${id} has already ended (${batch.status}) and cannot be cancelled`);
      this.waiting.changed(tx, -waitingBytes(batch));
      await this.batches.end(tx, batch.seq, 'cancelled', this.clock.now(), null);
      await this.runs.cancelBatch(tx, id);
      if (batch.round > 0) await this.batches.recountFailed(tx, batch.seq);
      await this.events.changed(tx, batch.seq);
    });
    return this.show(id);
  }

  /**
   * Throws DomainError `not_found`, `conflict` if it is running or has no failed items, or `unavailable` if too
   * many rows wait.
   */
  async retryFailed(id: string): Promise<BatchBody> {
    const seq = await this.unitOfWork.run(async (tx) => {
      const batch = await this.batches.hold(tx, id);
      if (!batch) throw batchNotFound(id);
      if (batch.status === 'running')
        throw new DomainError('conflict', `Batch ${id} is still running; retry its failed items when it has ended`);
      if (batch.failed_items === 0) throw new DomainError('conflict', `Batch ${id} has no failed items`);
      // The new runs will store their inputs again.
      this.waiting.refuseExcess(batch.stored_bytes);
      this.waiting.changed(tx, batch.stored_bytes);
      await this.batches.reopen(tx, batch);
      await this.events.changed(tx, batch.seq);
      return batch.seq;
    });
    const body = await this.show(id);
    this.dispatcher.wake(seq);
    return body;
  }

  private async show(id: string): Promise<BatchBody> {
    const batch = await this.batches.find(this.unitOfWork.reader, id);
    if (!batch) throw batchNotFound(id);
    return batchBody(batch);
  }
}
