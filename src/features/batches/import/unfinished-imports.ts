import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { LOGGER, type Logger } from '../../../common/logger.js';
import { SingleFlight } from '../../../common/single-flight.js';
import { Role } from '../../../common/role.js';
import { ImportsRepository } from './imports.repository.js';

const EVERY_MS = 60_000;

/** Deletes what is half in: of a process that crashed, and of a refused batch that could not be deleted at once. */
@Injectable()
export class UnfinishedImports implements OnApplicationBootstrap, OnModuleDestroy {
  private readonly work = new SingleFlight(() => this.removeAll());

  constructor(
    private readonly role: Role,
    private readonly imports: ImportsRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  // Awaited: a request that comes back with its idempotency key after a crash makes the same batch again.
  async onApplicationBootstrap(): Promise<void> {
    if (!this.role.worker) return;
    await this.remove();
    await this.tryTo(() => this.imports.removeOldKeys());
  }

  /** Returns when all that nobody works on is gone, as far as the database takes writes; where this process does not work, at once. */
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
      // Nobody sees what is left; the next turn, or the next start, tries again.
      this.logger.warn({ err: error }, 'what an unfinished import left could not be deleted');
    }
  }
}
