import type { Logger } from '../../common/logger.js';
import { scheduler } from '../../common/scheduler.js';
import type { Reader, Transaction, UnitOfWork } from '../../database/unit-of-work.js';

const PAUSE_FACTOR = 20;

/**
 * A row count that is updated with each commit, because counting the rows at every publish would take too long.
 * `recount` corrects it for commits of other processes and for commits whose outcome is unknown.
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
    tx.afterCommit(() => this.hasChanged(difference));
  }

  /** Counts a change that was committed. */
  hasChanged(difference: number): void {
    this.counted += difference;
  }

  /** Call this every second: changes by other processes do not pass through `changed`. */
  async recountShared(): Promise<void> {
    const startedAt = scheduler.elapsed();
    if (!this.unitOfWork.isShared || startedAt < this.recountAt) return;
    // Only one recount runs at a time, and recounts take at most 1/20 of the time.
    this.recountAt = Infinity;
    try {
      await this.recount();
    } catch (error) {
      this.logger.debug({ err: error }, `${this.what} could not be counted; trying again`);
    } finally {
      this.recountAt = scheduler.elapsed() + PAUSE_FACTOR * (scheduler.elapsed() - startedAt);
    }
  }

  async recount(): Promise<void> {
    this.counted = await this.read(this.unitOfWork.reader);
  }
}
