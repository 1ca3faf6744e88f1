import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { BackgroundLoop } from '../../common/background-loop.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Role } from '../../common/role.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { IdempotencyKeysRepository } from './idempotency-keys.repository.js';

const EVERY_MS = 60_000;
const BATCH = 500;

/** Removes expired keys, so that the table does not grow without bound. */
@Injectable()
export class ExpiredKeys implements OnModuleDestroy {
  private readonly work: BackgroundLoop;

  constructor(
    private readonly clock: Clock,
    private readonly role: Role,
    private readonly unitOfWork: UnitOfWork,
    private readonly keys: IdempotencyKeysRepository,
    @Inject(LOGGER) logger: Logger,
  ) {
    // An expired key counts as unknown even while its row exists.
    const failure = 'expired idempotency keys could not be removed';
    this.work = new BackgroundLoop(() => this.removeAll(), { clock, logger, failure });
  }

  /** Returns when all expired keys are removed. In a process that is not a worker it does nothing. */
  @Interval(EVERY_MS)
  async remove(): Promise<void> {
    if (this.role.worker) await this.work.run();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  private async removeAll(): Promise<void> {
    let removed = BATCH;
    while (removed >= BATCH && !this.work.stopped) {
      removed = await this.unitOfWork.run((tx) => this.keys.removeExpired(tx, this.clock.now(), BATCH));
    }
  }
}
