import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { BackgroundLoop } from '../../../common/background-loop.js';
import { Clock } from '../../../common/clock.js';
import { LOGGER, type Logger } from '../../../common/logger.js';
import { Role } from '../../../common/role.js';
import { ImportsRepository } from './imports.repository.js';

const EVERY_MS = 60_000;

/** Deletes unfinished imports: those of crashed processes, and refused ones that could not be deleted immediately. */
@Injectable()
export class UnfinishedImports implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly work: BackgroundLoop;
  private oldKeysAreRemoved = false;

  constructor(
    private readonly role: Role,
    private readonly imports: ImportsRepository,
    clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    // The remaining rows are hidden.
    const failure = 'the rows of an unfinished import could not be deleted';
    this.work = new BackgroundLoop(() => this.removeAll(), { clock, logger, failure });
  }

  // Awaited, because a request that is repeated with its idempotency key after a crash creates the same batch again.
  async onApplicationBootstrap(): Promise<void> {
    await this.remove();
  }

  /**
   * Returns when all abandoned imports are deleted, or the database has refused a write. In a process that is not a
   * worker it does nothing.
   */
  @Interval(EVERY_MS)
  async remove(): Promise<void> {
    if (this.role.worker) await this.work.run();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  private async removeAll(): Promise<void> {
    for (const seq of await this.imports.abandoned()) {
      if (!this.work.stopped) await this.imports.discard(seq);
    }
    // Only a crash leaves such keys, so one pass is enough.
    if (!this.oldKeysAreRemoved) await this.imports.removeOldKeys();
    this.oldKeysAreRemoved = true;
  }
}
