import type { Logger } from '../../common/logger.js';
import type { Reader, Transaction, UnitOfWork } from '../../database/unit-of-work.js';

const PAUSE_FACTOR = 20;

/**
 * How many rows there are of something, counted along with the commits, since counting them at every publish would take longer the
 * more there are. `recount` mends what a failed commit's unknown outcome or another process changed.
 */
export class KeptCount {
  private counted = 0;
  private recountAt = 0;

  constructor(
    private readonly what: string,
    private readonly unitOfWork: UnitOfWork,
    private readonly logger: Logger,
    private readonly read: (reader: Reader) => Promise<number>,
  ) {}

  get value(): number {
    return this.counted;
  }

  /** Counts a change that `tx` makes. */
  changed(tx: Transaction, difference: number): void {
    tx.afterCommit(() => {
      this.counted += difference;
    });
  }

  /** For every second: what other processes add and take does not come by here. */
  async recountShared(): Promise<void> {
    const startedAt = performance.now();
    if (this.unitOfWork.dialect.exclusive || startedAt < this.recountAt) return;
    // One at a time, and never more than a small part of the time.
    this.recountAt = Infinity;
    try {
      await this.recount();
    } catch (error) {
      this.logger.debug({ err: error }, `${this.what} could not be counted; trying again`);
    } finally {
      this.recountAt = performance.now() + PAUSE_FACTOR * (performance.now() - startedAt);
    }
  }

  async recount(): Promise<void> {
    this.counted = await this.read(this.unitOfWork.reader);
  }
}
