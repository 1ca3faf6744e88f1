import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { BackgroundLoop } from '../../common/background-loop.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Role } from '../../common/role.js';
import { ActivityRollup } from './activity-rollup.js';
import { ArtifactRollup } from './artifact-rollup.js';
import { FailureRollup } from './failure-rollup.js';
import type { Rollup } from './rollup.js';
import { ArtifactTermRollup, ExecutionTermRollup } from './term-rollups.js';

const EVERY_MS = 1_000;
const CLEAR_EVERY_MS = 60_000;

/**
 * Runs the rollups in the background, so that totals do not have to count everything. On shutdown it stops after the
 * current step.
 */
@Injectable()
export class Rollups implements OnModuleDestroy {
  private readonly work: BackgroundLoop;

  private nextClearing = 0;

  private readonly rollups: readonly Rollup[];

  constructor(
    private readonly clock: Clock,
    private readonly role: Role,
    artifacts: ArtifactRollup,
    activity: ActivityRollup,
    failures: FailureRollup,
    artifactTerms: ArtifactTermRollup,
    executionTerms: ExecutionTermRollup,
    @Inject(LOGGER) logger: Logger,
  ) {
    // Totals stay correct without the rollup and are only slower.
    const failure = 'counts could not be rolled up';
    this.work = new BackgroundLoop(() => this.rollUpAll(), { clock, logger, failure });
    this.rollups = [artifacts, artifactTerms, executionTerms, activity, failures];
  }

  /** Resolves when everything present has been rolled up. Does nothing in a process without the worker role. */
  @Interval(EVERY_MS)
  async run(): Promise<void> {
    if (this.role.worker) await this.work.run();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  private async rollUpAll(): Promise<void> {
    for (const rollup of this.rollups) while (!this.work.stopped && (await rollup.step()));
    if (this.clock.now() >= this.nextClearing) await this.clear();
  }

  private async clear(): Promise<void> {
    this.nextClearing = this.clock.now() + CLEAR_EVERY_MS;
    for (const rollup of this.rollups) while (!this.work.stopped && (await rollup.clear()));
  }
}
