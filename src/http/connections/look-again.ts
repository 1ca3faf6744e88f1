import type { Clock } from '../../common/clock.js';
import { scheduler } from '../../common/scheduler.js';

const EVERY_MS = 1_000;

/**
 * A loop that checks something every second while there is something to check. Each check runs after the pending
 * network events were processed, so that a client is not blamed for a delay of this process.
 */
export class LookAgain {
  private isDue = false;

  /** `look` returns whether there is still something to check. */
  constructor(
    private readonly clock: Clock,
    private readonly look: () => boolean,
  ) {}

  /** Schedules the next check within a second. Idempotent. */
  later(): void {
    if (this.isDue) return;
    this.isDue = true;
    this.clock.at(this.clock.now() + EVERY_MS, () => scheduler.later(() => this.now()));
  }

  private now(): void {
    this.isDue = false;
    if (this.look()) this.later();
  }
}
