import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { throttled } from '../../common/throttled.js';
import { toTimestamp } from '../../common/timestamp.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { DeliveriesRepository, type DeliveryRow } from './deliveries.repository.js';
import { type AttemptRow, DeliveryAttemptsRepository } from './delivery-attempts.repository.js';
import { DeliveryListRepository } from './delivery-list.repository.js';
import { originOf } from './delivery-queue.js';
import type { AttemptBody, DeliveryBody, DeliveryWithAttemptsBody } from './dto/delivery-body.js';
import type { DeliveryListBody, DeliveryListQuery } from './dto/delivery-list.js';

/** Shows deliveries, counts them and sends them again. */
@Injectable()
export class DeliveriesService {
  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly deliveries: DeliveriesRepository,
    private readonly lists: DeliveryListRepository,
    private readonly attempts: DeliveryAttemptsRepository,
    private readonly signals: Signals,
  ) {}

  async list(query: DeliveryListQuery): Promise<DeliveryListBody> {
    const { limit, offset } = query;
    const filter = {
      state: query.state ?? null,
      targetId: query.target_id ?? null,
      correlationId: query.correlation_id ?? null,
      artifactId: query.artifact_id ?? null,
    };
    const rows = await this.lists.list(this.unitOfWork.reader, filter, { limit, offset });
    return {
      items: rows.slice(0, limit).map(deliveryBody),
      pagination: { limit, offset, has_more: rows.length > limit },
    };
  }

  /**
   * Counts the deliveries that have not ended, by state, for all processes on the database. The counts are throttled and
   * may be slightly old, because counting many rows takes a long time.
   */
  readonly countOpen = throttled(() => this.deliveries.countOpen(this.unitOfWork.reader));

  /** Throws DomainError `not_found`. */
  async get(id: string): Promise<DeliveryWithAttemptsBody> {
    const { reader } = this.unitOfWork;
    const row = await this.deliveries.find(reader, id);
    if (!row) throw unknown(id);
    return { ...deliveryBody(row), attempts: (await this.attempts.of(reader, id)).map(attemptBody) };
  }

  /** Throws DomainError `not_found`, or `conflict` if it has not ended or its artifact was deleted. */
  async redeliver(id: string): Promise<DeliveryWithAttemptsBody> {
    await this.unitOfWork.run((tx) => this.beginAgain(tx, id));
    return this.get(id);
  }

  private async beginAgain(tx: Transaction, id: string): Promise<void> {
    const found = await this.deliveries.find(tx.db, id);
    if (!found) throw unknown(id);
    await this.deliveries.holdGroups(tx, found.correlation_id);
    // Read again, because it may have changed before the lock.
    const held = await this.deliveries.find(tx.db, id);
    if (!held) throw unknown(id);
    const { state, ended_at, correlation_id, target_id, artifact_seq, queue } = held;
    if (ended_at === null)
      throw new DomainError(
        'conflict',
        `Delivery ${id} has not ended yet (${state}); only a delivered or dead one can be sent again`,
      );
    if (!(await this.deliveries.hasArtifact(tx, artifact_seq))) {
      throw new DomainError('conflict', `Delivery ${id} cannot be sent again: its artifact has been deleted`);
    }
    const isBusy = await this.deliveries.isBusy(tx, correlation_id, target_id);
    await this.deliveries.begin(tx, id, isBusy ? 'waiting' : 'pending', this.clock.now());
    if (!isBusy) tx.afterCommit(() => this.signals.deliveryReturned.publishEverywhere(queue));
  }
}

const unknown = (id: string): DomainError => new DomainError('not_found', `Delivery not found: ${id}`);

const deliveryBody = (row: DeliveryRow): DeliveryBody => ({
  delivery_id: row.id,
  state: row.state,
  target_id: row.target_id,
  target_origin: originOf(row.queue),
  correlation_id: row.correlation_id,
  artifact_id: row.artifact_id,
  sequence: row.sequence,
  attempt: row.attempt,
  created_at: toTimestamp(row.created_at),
  ...(row.available_at !== null && { next_attempt_at: toTimestamp(row.available_at) }),
  ...(row.ended_at !== null && { ended_at: toTimestamp(row.ended_at) }),
  ...(row.last_status !== null && { last_status: row.last_status }),
  ...(row.last_error !== null && { last_error: row.last_error }),
});

const attemptBody = (row: AttemptRow): AttemptBody => ({
  attempt: row.attempt,
  started_at: toTimestamp(row.started_at),
  duration_ms: row.duration_ms,
  ...(row.status !== null && { status: row.status }),
  ...(row.error !== null && { error: row.error }),
});
