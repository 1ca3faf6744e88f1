import type { Cancel, Clock } from '../common/clock.js';
import type { Logger } from '../common/logger.js';
import type { UnitOfWork } from '../database/unit-of-work.js';
import type { LeasedRow } from './leased-table.js';
import type { RowClaims } from './row-claims.js';

const RELEASE_AGAIN_AFTER_MS = 1_000;

/** Makes retries claimable when they are due. It sets one timer, for the next of them. */
export class RetryTimer<Row extends LeasedRow, Input> {
  private cancel: Cancel = () => undefined;
  private nextAt = Infinity;
  private stopped = true;

  /** `returned` is called after the commit when a queue has something to claim again. */
  constructor(
    private readonly claims: RowClaims<Row, Input>,
    private readonly returned: (queue: string) => void,
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly logger: Logger,
  ) {}

  start(): void {
    this.stopped = false;
  }

  stop(): void {
    this.stopped = true;
    this.cancel();
  }

  /** A retry is due at `time` (epoch ms). */
  arm(time: number): void {
    if (this.stopped || time >= this.nextAt) return;
    this.cancel();
    this.nextAt = time;
    this.cancel = this.clock.at(time, () => void this.release());
  }

  /** Makes the retries that are due claimable, and sets the timer for the next one. */
  async release(): Promise<void> {
    this.nextAt = Infinity;
    try {
      const queues = await this.unitOfWork.run((tx) => this.claims.releaseRetries(tx, this.clock.now()));
      queues.forEach((queue) => this.returned(queue));
      const next = await this.claims.nextRetry(this.unitOfWork.reader);
      if (next !== null) this.arm(next);
    } catch (error) {
      this.logger.error({ err: error }, 'releasing retries failed');
      this.arm(this.clock.now() + RELEASE_AGAIN_AFTER_MS);
    }
  }
}
