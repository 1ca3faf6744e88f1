import { Inject, Injectable } from '@nestjs/common';

import { Clock } from '../common/clock.js';
import { LOGGER, type Logger } from '../common/logger.js';
import { Role } from '../common/role.js';
import { Settings } from '../config/settings.js';
import { Executor } from './execution/executor.js';
import { Leases } from './execution/leases.js';
import { Presence } from './presence/presence.js';

/** Renews the leases of this process's running executions, and its registration, before they expire. */
@Injectable()
export class Heartbeat {
  private cancel = (): void => undefined;
  private beating = false;
  private lastBeat = Promise.resolve();

  constructor(
    private readonly settings: Settings,
    private readonly clock: Clock,
    private readonly role: Role,
    private readonly leases: Leases,
    private readonly executor: Executor,
    private readonly presence: Presence,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  start(): void {
    this.beating = true;
    this.arm();
  }

  /** Resolves when a heartbeat that is running has ended: it may register this process again. */
  async stop(): Promise<void> {
    this.beating = false;
    this.cancel();
    await this.lastBeat;
  }

  private arm(): void {
    this.cancel = this.clock.at(this.clock.now() + this.settings.leaseMs / 3, () => {
      this.lastBeat = this.beat();
    });
  }

  private async beat(): Promise<void> {
    try {
      await this.leases.rows.renew(this.executor.runningIds());
      await this.presence.stay();
      if (this.role.worker) await this.leases.rows.takeOverLost();
    } catch (error) {
      this.logger.warn({ err: error }, 'leases could not be renewed; trying again');
    }
    if (this.beating) this.arm();
  }
}
