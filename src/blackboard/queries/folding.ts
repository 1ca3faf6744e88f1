import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { LOGGER, type Logger } from '../../common/logger.js';
import { ActivityFold } from './activity-fold.js';
import { ArtifactFold } from './artifact-fold.js';

const EVERY_MS = 1_000;

/** Folds in the background what totals would otherwise have to count; stops after the step in hand. */
@Injectable()
export class Folding implements OnModuleDestroy {
  private running: Promise<void> | null = null;
  private stopped = false;

  constructor(
    private readonly artifacts: ArtifactFold,
    private readonly activity: ActivityFold,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Returns when all that was there has been folded. */
  @Interval(EVERY_MS)
  run(): Promise<void> {
    this.running ??= this.foldAll().finally(() => (this.running = null));
    return this.running;
  }

  async onModuleDestroy(): Promise<void> {
    this.stopped = true;
    await this.running;
  }

  private async foldAll(): Promise<void> {
    try {
      while (!this.stopped && (await this.artifacts.step()));
      while (!this.stopped && (await this.activity.step()));
    } catch (error) {
      // Totals stay right without it, only slower; the next turn tries again.
      this.logger.warn({ err: error }, 'counts could not be folded');
    }
  }
}
