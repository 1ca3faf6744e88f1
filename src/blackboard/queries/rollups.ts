import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { SingleFlight } from '../../common/single-flight.js';
import { Role } from '../../common/role.js';
import { ActivityRollup } from './activity-rollup.js';
import { ArtifactRollup } from './artifact-rollup.js';

const EVERY_MS = 1_000;
const CLEAR_EVERY_MS = 60_000;

/** Adds up in the background what totals would otherwise have to count; stops after the step in hand. */
@Injectable()
export class Rollups implements OnModuleDestroy {
  private readonly work = new SingleFlight(() => this.rollUpAll());

  private nextClearing = 0;

  constructor(
    private readonly clock: Clock,
    private readonly role: Role,
    private readonly artifacts: ArtifactRollup,
    private readonly activity: ActivityRollup,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Returns when all that was there has been rolled up; where this process does not work, at once. */
  @Interval(EVERY_MS)
  async run(): Promise<void> {
    if (this.role.worker) await this.work.run();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  private async rollUpAll(): Promise<void> {
    try {
      while (!this.work.stopped && (await this.artifacts.step()));
      while (!this.work.stopped && (await this.activity.step()));
      if (this.clock.now() >= this.nextClearing) await this.clear();
    } catch (error) {
      // Totals stay right without it, only slower; the next turn tries again.
      this.logger.warn({ err: error }, 'counts could not be rolled up');
    }
  }

  private async clear(): Promise<void> {
    this.nextClearing = this.clock.now() + CLEAR_EVERY_MS;
    while (!this.work.stopped && (await this.activity.clear()));
  }
}
