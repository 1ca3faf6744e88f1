import { Inject, Injectable } from '@nestjs/common';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Signals } from '../../pubsub/signals.js';
import { Backlog } from '../scheduling/backlog.js';
import { ParkedTimers } from '../timers/parked-timers.js';
import { LackReport } from './lack-report.js';
import { Processes } from '../processes/processes.js';

/** That this process is there, and what follows when it or another one comes or leaves: other agents and subscriptions are known. */
@Injectable()
export class Presence {
  private hasTimersToWake = false;
  private unsubscribe = (): unknown => undefined;

  constructor(
    private readonly processes: Processes,
    private readonly parkedTimers: ParkedTimers,
    private readonly backlog: Backlog,
    private readonly lackReport: LackReport,
    private readonly signals: Signals,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async come(): Promise<void> {
    this.unsubscribe = this.signals.processesChanged.subscribe(() => void this.lookAround());
    await this.register();
  }

  /** To be called again and again before its lease ends. */
  async stay(): Promise<void> {
    await this.register();
    await this.count();
  }

  /** Where it fails, the others notice by themselves when a lease has passed. */
  async leave(): Promise<void> {
    this.unsubscribe();
    try {
      await this.processes.leave();
    } catch (error) {
      this.logger.debug({ err: error }, 'this process could not sign off');
    }
  }

  /** Counts what waits, and reports what waits for agents that no process has. */
  async count(): Promise<void> {
    await this.backlog.recount();
    await this.lackReport.report();
  }

  private async register(): Promise<void> {
    // Before the flag: a registration must not be left out because an earlier one still has timers to wake.
    const hasCome = await this.processes.register();
    this.hasTimersToWake ||= hasCome;
    if (!this.hasTimersToWake) return;
    await this.parkedTimers.wake();
    this.hasTimersToWake = false;
  }

  private async lookAround(): Promise<void> {
    try {
      await this.count();
    } catch (error) {
      this.logger.debug({ err: error }, 'what waits could not be counted; trying again');
    }
  }
}
