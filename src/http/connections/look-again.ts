import type { Clock } from '../../common/clock.js';

const EVERY_MS = 1_000;

/**
 * A loop that looks at something every second for as long as there is something to look at. Each look comes after what has arrived and left
 * meanwhile is known: where the process itself was held up, no client is to blame.
 */
export class LookAgain {
  private isDue = false;

  /** `look` says whether there is still something to look at. */
  constructor(
    private readonly clock: Clock,
    private readonly look: () => boolean,
  ) {}

  /** The next look is within a second. Idempotent. */
  later(): void {
    if (this.isDue) return;
    this.isDue = true;
    this.clock.at(this.clock.now() + EVERY_MS, () => setImmediate(() => this.now()));
  }

  private now(): void {
    this.isDue = false;
    if (this.look()) this.later();
  }
}
