import { Injectable } from '@nestjs/common';

import { MemoryBudget } from '../../common/memory-budget.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { ClaimedDelivery } from './delivery-claims.js';
import { DeliveryMemory } from './delivery-memory.js';
import { originOf } from './delivery-queue.js';
import { DeliveryQueuesRepository } from './delivery-queues.repository.js';

/** Share of the size of the budget for clients' data. */
const SHARE_OF_BUDGET = 1 / 4;

/**
 * Keeps the payload of a delivery in memory only while it is sent. A process sends up to 256 deliveries at the same
 * time, each with up to `body_limit` bytes.
 */
@Injectable()
export class DeliveryPayloads {
  private readonly memory: DeliveryMemory;

  constructor(
    budget: MemoryBudget,
    private readonly unitOfWork: UnitOfWork,
    private readonly queues: DeliveryQueuesRepository,
  ) {
    this.memory = new DeliveryMemory(Math.floor(budget.limitBytes * SHARE_OF_BUDGET));
  }

  /** Resolves with the result of `send`. Rejects with the signal's reason, or if the payload cannot be read. */
  async use<T>(
    { queue, artifact }: ClaimedDelivery,
    signal: AbortSignal,
    send: (payload: string) => Promise<T>,
  ): Promise<T> {
    if (artifact.payload !== null) return send(artifact.payload);
    const giveBack = await this.memory.take(originOf(queue), Number(artifact.payload_bytes), signal);
    try {
      const payload = await this.queues.payloadOf(this.unitOfWork.reader, artifact.seq);
      if (payload === undefined) throw new Error('its artifact was deleted');
      return await send(payload);
    } finally {
      giveBack();
    }
  }
}
