import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { KeptCount } from '../../blackboard/scheduling/kept-count.js';
import { DomainError } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { sizeText } from '../../common/units.js';
import { Settings } from '../../config/settings.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import type { BatchRow } from './batch.js';
import { BatchesRepository } from './batches.repository.js';

const RETRY_AFTER_SECONDS = 5;
const RECOUNT_MS = 1_000;

type Waiting = Pick<BatchRow, 'status' | 'stored_bytes' | 'total_items' | 'next_position'>;

/**
 * Bounds the bytes that the waiting rows of all batches will store when they become runs. While they wait, rows share
 * their static inputs, so without this bound a few small batches could later need more space than any disk has.
 */
@Injectable()
export class WaitingBytes implements OnModuleInit {
  private readonly waiting: KeptCount;

  constructor(
    private readonly settings: Settings,
    unitOfWork: UnitOfWork,
    batches: BatchesRepository,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.waiting = new KeptCount('bytes of waiting rows', unitOfWork, logger, (reader) => batches.waitingBytes(reader));
  }

  // Must run before the first step of a batch. Otherwise a change would be counted twice.
  onModuleInit(): Promise<void> {
    return this.waiting.recount();
  }

  @Interval(RECOUNT_MS)
  recountShared(): Promise<void> {
    return this.waiting.recountShared();
  }

  /** Counts a change that `tx` makes. */
  changed(tx: Transaction, difference: number): void {
    if (difference !== 0) this.waiting.changed(tx, difference);
  }

  /** Throws DomainError `invalid` if a batch is larger than the bound. `field` names the rows in the message. */
  refuseTooLarge(field: string, bytes: number): void {
    const { maxWaitingBatchBytes: most } = this.settings;
    if (bytes <= most) return;
    throw new DomainError(
      'invalid',
      `${field}: the rows would store more than ${sizeText(most)} (max_waiting_batch_bytes); send several batches, one after the other`,
    );
  }

  /** Throws DomainError `unavailable` if another `bytes` would exceed the bound. */
  refuseExcess(bytes: number): void {
    const { maxWaitingBatchBytes: most } = this.settings;
    if (this.waiting.value + bytes <= most) return;
    throw new DomainError(
      'unavailable',
      `With this batch, waiting rows would store more than ${sizeText(most)} (max_waiting_batch_bytes); try again when some rows have run`,
      {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      },
    );
  }
}

/**
 * Returns the bytes of one batch. Its rows count as equally large, so that neither a step nor a count must read them.
 */
export function waitingBytes({
  status,
  stored_bytes: bytes,
  total_items: total,
  next_position: next,
}: Waiting): number {
  if (status === 'importing') return bytes;
  return status === 'running' ? bytes * (1 - next / total) : 0;
}
