import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { sql } from 'kysely';
import { DomainError } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Settings } from '../../config/settings.js';
import { type Reader, type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { KeptCount } from '../kept-count.js';

const RETRY_AFTER_SECONDS = 5;
const RECOUNT_MS = 1_000;

/** How many executions wait. */
@Injectable()
export class Backlog {
  private readonly waiting: KeptCount;

  constructor(
    private readonly settings: Settings,
    unitOfWork: UnitOfWork,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.waiting = new KeptCount('waiting executions', unitOfWork, logger, countWaiting);
  }

  get count(): number {
    return this.waiting.value;
  }

  /** Counts a change that `tx` makes. */
  changed(tx: Transaction, difference: number): void {
    this.waiting.changed(tx, difference);
  }

  @Interval(RECOUNT_MS)
  recountShared(): Promise<void> {
    return this.waiting.recountShared();
  }

  recount(): Promise<void> {
    return this.waiting.recount();
  }

  /** So much waits that no more may be accepted. */
  get isFull(): boolean {
    return this.count >= this.settings.maxPendingExecutions;
  }

  /** DomainError `unavailable`. */
  refuse(pausedAgents: readonly string[]): never {
    const wayOut = pausedAgents.length > 0 ? `try again later, or resume what is paused: ${[...pausedAgents].sort().join(', ')}` : 'try again later';
    throw new DomainError('unavailable', `${this.count} executions are waiting, which is the most this service takes; ${wayOut}`, {
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
