import { Inject, Injectable } from '@nestjs/common';

import type { BackgroundLoop } from '../common/background-loop.js';
import { Clock } from '../common/clock.js';
import { LOGGER, type Logger } from '../common/logger.js';
import { Role } from '../common/role.js';
import { Settings } from '../config/settings.js';
import { leaseHeartbeat } from '../queue/lease-heartbeat.js';
import { Executor } from './execution/executor.js';
import { Leases } from './execution/leases.js';
import { Presence } from './presence/presence.js';

/** Renews the leases of this process's running executions, and its registration, before they expire. */
@Injectable()
export class Heartbeat {
  private loop: BackgroundLoop | null = null;

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
    const { clock, logger } = this;
    const failure = 'leases could not be renewed';
    this.loop = leaseHeartbeat(this.settings.leaseMs, () => this.beat(), { clock, logger, failure });
  }

  /** Resolves when a heartbeat that is running has ended: it may register this process again. */
  async stop(): Promise<void> {
    await this.loop?.stop();
  }

  private async beat(): Promise<void> {
    await this.leases.rows.renew(this.executor.runningIds());
    await this.presence.stay();
    if (this.role.worker) await this.leases.rows.takeOverLost();
  }
}
