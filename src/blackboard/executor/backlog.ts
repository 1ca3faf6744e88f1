import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { sql } from 'kysely';
import { DomainError } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Settings } from '../../config/settings.js';
import { type Reader, type Transaction, UnitOfWork } from '../../database/unit-of-work.js';

const RETRY_AFTER_SECONDS = 5;
const RECOUNT_MS = 1_000;
const PAUSE_FACTOR = 20;

/**
 * How many executions wait. Counted along with the commits, since counting them at every publish would take longer the more
 * there are; `recount` mends what a failed commit's unknown outcome or another process changed.
 */
@Injectable()
export class Backlog {
  private waiting = 0;
  private recountAt = 0;

  constructor(
    private readonly settings: Settings,
    private readonly unitOfWork: UnitOfWork,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  get count(): number {
    return this.waiting;
  }

  /** Counts a change that `tx` makes. */
  changed(tx: Transaction, difference: number): void {
    tx.afterCommit(() => {
      this.waiting += difference;
    });
  }

  /** What other processes add and take does not come by here. */
  @Interval(RECOUNT_MS)
  async recountShared(): Promise<void> {
    const startedAt = performance.now();
    if (this.unitOfWork.dialect.exclusive || startedAt < this.recountAt) return;
    // One at a time, and never more than a small part of the time.
    this.recountAt = Infinity;
    try {
      await this.recount();
    } catch (error) {
      this.logger.debug({ err: error }, 'waiting executions could not be counted; trying again');
    } finally {
      this.recountAt = performance.now() + PAUSE_FACTOR * (performance.now() - startedAt);
    }
  }

  async recount(): Promise<void> {
    this.waiting = await countWaiting(this.unitOfWork.reader);
  }

  /** So much waits that no more may be accepted. */
  get isFull(): boolean {
    return this.waiting >= this.settings.maxPendingExecutions;
  }

  /** DomainError `unavailable`. */
  refuse(pausedAgents: readonly string[]): never {
    const wayOut = pausedAgents.length > 0 ? `try again later, or resume what is paused: ${[...pausedAgents].sort().join(', ')}` : 'try again later';
    throw new DomainError('unavailable', `${this.waiting} executions are waiting, which is the most this service takes; ${wayOut}`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }
}

// Two counts, since each reads its partial index and one over both would read the whole table.
async function countWaiting(reader: Reader): Promise<number> {
  const waiting = reader
    .selectFrom('executions')
    .select((expression) => expression.fn.countAll<number>().as('count'))
    .where('state', '=', sql.lit('pending' as const));
  const ready = await waiting.where('available_at', 'is', null).executeTakeFirstOrThrow();
  const retrying = await waiting.where('available_at', 'is not', null).executeTakeFirstOrThrow();
  return ready.count + retrying.count;
}
