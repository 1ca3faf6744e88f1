import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { SingleFlight } from '../../common/background-work.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Role } from '../../common/role.js';
import { ActivityRollup } from './activity-rollup.js';
import { ArtifactRollup } from './artifact-rollup.js';
import { FailureRollup } from './failure-rollup.js';

const EVERY_MS = 1_000;
const CLEAR_EVERY_MS = 60_000;

/**
 * Runs the rollups in the background, so that totals do not have to count everything. On shutdown it stops after the
 * current step.
 */
@Injectable()
export class Rollups implements OnModuleDestroy {
  private readonly work = new SingleFlight(() => this.rollUpAll());

  private nextClearing = 0;

  constructor(
    private readonly clock: Clock,
    private readonly role: Role,
    private readonly artifacts: ArtifactRollup,
    private readonly activity: ActivityRollup,
    private readonly failures: FailureRollup,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Resolves when everything present has been rolled up. Does nothing in a process without the worker role. */
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
      while (!this.work.stopped && (await this.failures.step()));
      if (this.clock.now() >= this.nextClearing) await this.clear();
    } catch (error) {
      // Totals stay correct without the rollup and are only slower. The next run tries again.
      this.logger.warn({ err: error }, 'the rollup of counts failed; the next run tries again');
    }
  }

  private async clear(): Promise<void> {
    this.nextClearing = this.clock.now() + CLEAR_EVERY_MS;
    while (!this.work.stopped && (await this.activity.clear()));
    while (!this.work.stopped && (await this.failures.clear()));
  }
}
