import { Inject, Injectable } from '@nestjs/common';

import { LOGGER, type Logger } from '../common/logger.js';
import { Settings } from '../config/settings.js';
import { Executor } from './execution/executor.js';
import { LeaseWatch } from './execution/lease-watch.js';
import { Leases } from './execution/leases.js';
import { LimitReleases } from './limits/limit-releases.js';
import { LimitStart } from './limits/limit-start.js';
import { TimerLoop } from './timers/timer-loop.js';

/** The loops of a process with the worker role: executions, timers, and leases that expire. */
@Injectable()
export class WorkerLoops {
  constructor(
    private readonly settings: Settings,
    private readonly leases: Leases,
    private readonly executor: Executor,
    private readonly limitReleases: LimitReleases,
    private readonly limitStart: LimitStart,
    private readonly timers: TimerLoop,
    private readonly leaseWatch: LeaseWatch,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Takes over the executions of processes that ended. Call it before `start`. */
  async recover(): Promise<void> {
    const takenOver = await this.leases.rows.takeOverLost();
    if (takenOver > 0)
      this.logger.warn({ executions: takenOver }, 'took over executions that a process left running when it ended');
  }

  async start(): Promise<void> {
    await this.limitStart.prepare();
    await this.executor.start();
    this.limitReleases.start();
    this.timers.start();
    this.leaseWatch.start();
  }

  /** Takes no new work, waits for running attempts within the grace period, then hands back the rest. */
  async stop(): Promise<void> {
    this.leaseWatch.stop();
    // Stopped together, so that neither takes new work while the other one is stopping.
    await Promise.all([
      this.timers.stop(),
      this.limitReleases.stop(),
      this.executor.stop(this.settings.shutdownGraceMs),
    ]);
  }
}
