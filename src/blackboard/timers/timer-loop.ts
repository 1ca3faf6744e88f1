import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { DueTimers } from './due-timers.js';

const TRY_AGAIN_AFTER_MS = 1_000;
const LOOK_AGAIN_MS = 5_000;

/** Wakes up when the next timer is due, and fires the due timers, in one pass at a time. */
@Injectable()
export class TimerLoop {
  private working = false;
  private firing: Promise<void> | null = null;
  private lookAgain = false;
  private armedFor = Infinity;
  private cancel = (): void => undefined;
  private unsubscribe = (): void => undefined;

  constructor(
    private readonly dueTimers: DueTimers,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly signals: Signals,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Idempotent. */
  start(): void {
    if (this.working) return;
    this.working = true;
    this.unsubscribe = this.signals.timerSet.subscribe((time) => this.arm(time));
    this.arm(this.clock.now());
  }

  /** Polls for timers of other processes, which may have ended before they fired them. */
  @Interval(LOOK_AGAIN_MS)
  lookAtAll(): void {
    if (!this.unitOfWork.dialect.exclusive) this.arm(this.clock.now());
  }

  /** Stops firing. Resolves when the current pass has ended. */
  async stop(): Promise<void> {
    this.working = false;
    this.unsubscribe();
    this.cancel();
    await this.firing;
  }

  private arm(time: number): void {
    if (!this.working || time >= this.armedFor) return;
    this.cancel();
    this.armedFor = time;
    if (time <= this.clock.now()) {
      this.cancel = () => undefined;
      this.fire();
    } else {
      this.cancel = this.clock.at(time, () => this.fire());
    }
  }

  private fire(): void {
    this.armedFor = Infinity;
    if (this.firing) {
      this.lookAgain = true;
      return;
    }
    this.firing = this.fireDue().finally(() => {
      this.firing = null;
      // A timer that was set during this pass may have missed its last query.
      if (this.lookAgain) this.arm(this.clock.now());
      this.lookAgain = false;
    });
  }

  private async fireDue(): Promise<void> {
    try {
      const next = await this.dueTimers.fire(() => !this.working);
      if (next !== null) this.arm(next);
    } catch (error) {
      this.logger.error({ err: error }, 'timers could not be fired; trying again');
      this.arm(this.clock.now() + TRY_AGAIN_AFTER_MS);
    }
  }
}
