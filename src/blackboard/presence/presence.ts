import { Inject, Injectable } from '@nestjs/common';

import { LOGGER, type Logger } from '../../common/logger.js';
import { Signals } from '../../pubsub/signals.js';
import { DefinitionStore } from '../processes/definition-store.js';
import { Processes } from '../processes/processes.js';
import { ConfiguredSchedules } from '../schedules/configured-schedules.js';
import { Backlog } from '../scheduling/backlog.js';
import { ParkedTimers } from '../timers/parked-timers.js';
import { LackReport } from './lack-report.js';

/** Registers this process, stores the schedules of its file, and updates what depends on the live processes when one of them starts or stops. */
@Injectable()
export class Presence {
  private hasTimersToWake = false;
  private unsubscribe = (): unknown => undefined;

  constructor(
    private readonly definitions: DefinitionStore,
    private readonly processes: Processes,
    private readonly parkedTimers: ParkedTimers,
    private readonly backlog: Backlog,
    private readonly lackReport: LackReport,
    private readonly schedules: ConfiguredSchedules,
    private readonly signals: Signals,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async come(): Promise<void> {
    await this.definitions.store();
    this.unsubscribe = this.signals.processesChanged.subscribe(() => void this.lookAround());
    await this.register();
    await this.schedules.store();
  }

  /** Call this regularly, before the lease of the registration ends. */
  async stay(): Promise<void> {
    // While this process was not registered, another one may have removed the schedules of its file.
    if (await this.register()) await this.schedules.store();
    // A process that was killed gives no signal when its registration expires.
    await this.lookAround();
  }

  /** If this fails, other processes notice when the lease has expired. */
  async leave(): Promise<void> {
    this.unsubscribe();
    try {
      await this.processes.leave();
    } catch (error) {
      this.logger.debug({ err: error }, 'this process could not remove its registration');
    }
  }

  /** Counts waiting executions, and logs agents and configurations with waiting work that no process has. */
  async count(): Promise<void> {
    await this.backlog.recount();
    await this.lackReport.report();
  }

  /** True if this process was not registered. */
  private async register(): Promise<boolean> {
    // `register` comes before the flag is tested: a heartbeat must happen even if parked timers are still to be woken.
    const hasCome = await this.processes.register();
    this.hasTimersToWake ||= hasCome;
    if (this.hasTimersToWake) await this.parkedTimers.wake();
    this.hasTimersToWake = false;
    return hasCome;
  }

  /** Its failure does not keep a heartbeat from taking over the executions of processes that have ended. */
  private async lookAround(): Promise<void> {
    try {
      await this.schedules.lookAround();
      await this.count();
    } catch (error) {
      this.logger.warn({ err: error }, 'schedules and waiting work could not be looked at; trying again');
    }
  }
}
