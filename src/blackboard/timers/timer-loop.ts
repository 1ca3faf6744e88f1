import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { BackgroundLoop } from '../../common/background-loop.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { DueTimers } from './due-timers.js';

const TRY_AGAIN_AFTER_MS = 1_000;
const LOOK_AGAIN_MS = 5_000;

/** Wakes up when the next timer is due, and fires the due timers. */
@Injectable()
export class TimerLoop {
  private isStarted = false;
  private unsubscribe = (): void => undefined;
  private readonly loop: BackgroundLoop;

  constructor(
    dueTimers: DueTimers,
    clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly signals: Signals,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.loop = new BackgroundLoop(() => dueTimers.fire(() => this.loop.stopped), {
      clock,
      logger,
      failure: 'timers could not be fired',
      backOffMs: TRY_AGAIN_AFTER_MS,
    });
  }

  /** Idempotent. */
  start(): void {
    if (this.isStarted) return;
    this.isStarted = true;
    this.unsubscribe = this.signals.timerSet.subscribe((time) => this.loop.wake(time));
    this.loop.wake();
  }

  /** Polls for timers of other processes, which may have ended before they fired them. */
  @Interval(LOOK_AGAIN_MS)
  lookAtAll(): void {
    // The clock may also have been set forth, which the machine's timer does not notice.
    if (this.isStarted && (this.unitOfWork.isShared || this.loop.isOverdue)) void this.loop.run();
  }

  /** Stops firing. Resolves when the current pass has ended. */
  async stop(): Promise<void> {
    this.unsubscribe();
    await this.loop.stop();
  }
}
