import { Inject, Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';

/** After so many, a trial ends. With the pauses between them, that is after four minutes. */
const MOST_FAILURES = 10;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

interface Failures {
  count: number;
  /** Epoch ms of the next try. */
  next: number;
}

/**
 * Successive failures of trials, by their correlations. The tries are some time apart, because the cause may pass. Without
 * a limit, a trial that always fails would be tried and logged forever.
 */
@Injectable()
export class TrialFailures {
  private readonly failures = new Map<string, Failures>();

  constructor(
    private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /** Whether the trial has failed and must not be tried yet. */
  pauses(id: string): boolean {
    return (this.failures.get(id)?.next ?? 0) > this.clock.now();
  }

  forget(id: string): void {
    this.failures.delete(id);
  }

  /** Returns true if the trial must not be tried again. */
  add(error: unknown, { experiment, id }: { experiment: string; id: string }): boolean {
    this.logger.error({ err: error, experiment, correlation_id: id }, 'a step of a trial failed');
    const count = (this.failures.get(id)?.count ?? 0) + 1;
    const isLast = count === MOST_FAILURES;
    if (isLast) this.failures.delete(id);
    else {
      const pause = Math.min(FIRST_PAUSE_MS * 2 ** (count - 1), LONGEST_PAUSE_MS);
      this.failures.set(id, { count, next: this.clock.now() + pause });
    }
    return isLast;
  }
}
