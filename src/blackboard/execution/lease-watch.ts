import { Inject, Injectable } from '@nestjs/common';

import { type Cancel, Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Signals } from '../../pubsub/signals.js';
import { Leases } from './leases.js';

const ROUNDED_TO_MS = 1_000;

/**
 * Looks for expired leases at the time when a lease ends that this process gave to a client or a remote agent, or that a
 * process without the worker role gave. The regular poll finds the others, such as those of a process that has ended.
 */
@Injectable()
export class LeaseWatch {
  private readonly looks = new Map<number, Cancel>();
  private unsubscribe = (): unknown => undefined;

  constructor(
    private readonly clock: Clock,
    private readonly signals: Signals,
    private readonly leases: Leases,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  start(): void {
    this.unsubscribe = this.signals.leaseDeferred.subscribe((until) => this.lookAt(until));
  }

  stop(): void {
    this.unsubscribe();
    this.looks.forEach((cancel) => cancel());
    this.looks.clear();
  }

  // One query for all leases that end within the same second, because there may be a thousand.
  private lookAt(until: number): void {
    const time = (Math.floor(until / ROUNDED_TO_MS) + 1) * ROUNDED_TO_MS;
    if (this.looks.has(time)) return;
    this.looks.set(
      time,
      this.clock.at(time, () => void this.look(time)),
    );
  }

  private async look(time: number): Promise<void> {
    this.looks.delete(time);
    try {
      await this.leases.rows.takeOverLost({ unowned: true });
    } catch (error) {
      this.logger.warn({ err: error }, 'expired leases could not be looked for; the next heartbeat does it');
    }
  }
}
