import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { SingleFlight } from '../../../common/background-work.js';
import { LOGGER, type Logger } from '../../../common/logger.js';
import { Role } from '../../../common/role.js';
import { ImportsRepository } from './imports.repository.js';

const EVERY_MS = 60_000;

/** Deletes unfinished imports: those of crashed processes, and refused ones that could not be deleted immediately. */
@Injectable()
export class UnfinishedImports implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly work = new SingleFlight(() => this.removeAll());

  constructor(
    private readonly role: Role,
    private readonly imports: ImportsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  // Awaited, because a request that is repeated with its idempotency key after a crash creates the same batch again.
  async onApplicationBootstrap(): Promise<void> {
    if (!this.role.worker) return;
    await this.remove();
    await this.tryTo(() => this.imports.removeOldKeys());
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

  private removeAll(): Promise<void> {
    return this.tryTo(async () => {
      for (const seq of await this.imports.abandoned()) {
        if (!this.work.stopped) await this.imports.discard(seq);
      }
    });
  }

  private async tryTo(remove: () => Promise<void>): Promise<void> {
    try {
      await remove();
    } catch (error) {
      // The remaining rows are hidden. The next interval or the next start tries again.
      this.logger.warn({ err: error }, 'the rows of an unfinished import could not be deleted');
    }
  }
}
