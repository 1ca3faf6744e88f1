import { Inject, Injectable } from '@nestjs/common';

import type { RetryPolicy } from '../../catalog/definitions.js';
import { Clock } from '../../common/clock.js';
import { isUnavailable } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { random } from '../../common/random.js';
import { Telemetry } from '../../common/telemetry.js';
import { toTimestamp } from '../../common/timestamp.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { nextAttemptAt } from '../execution/retry.js';
import { postponeTimer, type Timer } from '../scheduling/timer-rows.js';

/** The retries of a timer that could not be fired. They never end, because accepted work must be finished. */
const RETRY: RetryPolicy = { attempts: Infinity, delayMs: 1_000, maxDelayMs: 300_000 };

/** Postpones timers that could not be fired. */
@Injectable()
export class FailedTimers {
  /** Timers that failed because the database was unavailable, in the last pass and in this one. */
  private doubtedBefore = new Set<string>();
  private doubted = new Set<string>();

  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly telemetry: Telemetry,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Call this before each pass over the due timers. */
  beginPass(): void {
    [this.doubtedBefore, this.doubted] = [this.doubted, new Set()];
  }

  /**
   * Postpones the timer. At the first `unavailable` error of a timer it rejects with the error instead, because the
   * whole database may be unavailable; if the timer fails again in the next pass, the cause may be the timer itself.
   */
  async postpone(timer: Timer, error: unknown): Promise<void> {
    if (isUnavailable(error) && !this.doubtedBefore.has(timer.id)) {
      this.doubted.add(timer.id);
      throw error;
    }
    const failures = timer.failures + 1;
    const nextTry = nextAttemptAt(RETRY, failures, this.clock.now(), random.number());
    if (!(await this.unitOfWork.run((tx) => postponeTimer(tx, timer, nextTry)))) return;
    this.telemetry.timerFailed(timer.kind);
    this.logger.error(
      { err: error, timer: timer.kind, failures, next_try: toTimestamp(nextTry) },
      'a timer could not be fired; trying again',
    );
  }
}
