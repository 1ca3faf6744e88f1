import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import type { BackgroundLoop } from '../../common/background-loop.js';
import { Lifecycle } from '../../common/lifecycle.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Role } from '../../common/role.js';
import { Settings } from '../../config/settings.js';
import { Signals } from '../../pubsub/signals.js';
import { DeliveryAttempts } from './delivery-attempts.js';
import { DeliveryLeases } from './delivery-leases.js';
import { DeliveryLoop } from './delivery-loop.js';

const LOOK_AGAIN_MS = 2_000;

/** Delivers webhooks from the start of a worker to its end. In other processes it passes wake-ups to the workers. */
@Injectable()
export class Deliverer implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private stopped: Promise<void> | null = null;
  private heartbeat: BackgroundLoop | null = null;

  constructor(
    private readonly settings: Settings,
    private readonly lifecycle: Lifecycle,
    private readonly role: Role,
    private readonly signals: Signals,
    private readonly loop: DeliveryLoop,
    private readonly leases: DeliveryLeases,
    private readonly attempts: DeliveryAttempts,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    if (!this.role.worker) {
      this.signals.deliveryReady.subscribe((queue) => this.signals.deliveryReady.publishElsewhere(queue));
      return;
    }
    const takenOver = await this.leases.rows.takeOverLost();
    if (takenOver > 0)
      this.logger.warn({ deliveries: takenOver }, 'took over deliveries of a process that has stopped');
    await this.loop.start();
    this.heartbeat = this.leases.keep(() => this.loop.runningIds());
    // Runs during the executor's grace period, and not after it.
    this.lifecycle.onStop(() => void this.stop());
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.stop();
  }

  @Interval(LOOK_AGAIN_MS)
  lookAgain(): void {
    this.loop.lookAgain();
  }

  private stop(): Promise<void> {
    return (this.stopped ??= this.stopOnce());
  }

  private async stopOnce(): Promise<void> {
    try {
      await this.loop.stop(this.settings.shutdownGraceMs);
    } catch (error) {
      this.logger.warn(
        { err: error },
        'deliveries could not be released; another process takes them over when their leases expire',
      );
    }
    // The heartbeat stops only now, because this process keeps the leases of its deliveries in the grace period.
    await this.heartbeat?.stop();
    await this.attempts.stop();
  }
}
