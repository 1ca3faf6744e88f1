import { Inject, Injectable, type OnApplicationBootstrap, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { LOGGER, type Logger } from '../../common/logger.js';
import { IntakesRepository } from './intakes.repository.js';

const EVERY_MS = 60_000;

/** Deletes what is half in: of a process that crashed, and of a refused batch that could not be deleted at once. */
@Injectable()
export class UnfinishedIntakes implements OnApplicationBootstrap, OnModuleDestroy {
  private running: Promise<void> | null = null;
  private stopped = false;

  constructor(
    private readonly intakes: IntakesRepository,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  // Awaited: a request that comes back with its idempotency key after a crash makes the same batch again.
  async onApplicationBootstrap(): Promise<void> {
    await this.remove();
    await this.intakes.removeOldKeys();
  }

  /** Returns when all that nobody works on is gone, as far as the database takes writes. */
  @Interval(EVERY_MS)
  remove(): Promise<void> {
    this.running ??= this.removeAll().finally(() => (this.running = null));
    return this.running;
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async removeAll(): Promise<void> {
    try {
      for (const seq of await this.intakes.abandoned()) {
        if (!this.stopped) await this.intakes.discard(seq);
      }
    } catch (error) {
      // Nobody sees what is left; the next turn tries again.
      this.logger.warn({ err: error }, 'the rows of an unfinished batch could not be deleted');
    }
  }
}
