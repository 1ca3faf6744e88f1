import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { sql } from 'kysely';
import { DomainError } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Settings } from '../../config/settings.js';
import { type Reader, type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { KeptCount } from './kept-count.js';

const RETRY_AFTER_SECONDS = 5;
const RECOUNT_MS = 1_000;

/**
 * How much waits, without being an execution: artifacts in joins and batch windows, once for each subscription, and artifacts that are
 * released later. Some of it waits without an end, so that clients could let it grow for ever.
 */
@Injectable()
export class WaitingArrivals {
  private readonly waiting: KeptCount;
  /** By transaction, what it adds in all. */
  private readonly added = new WeakMap<Transaction, number>();

  constructor(
    private readonly settings: Settings,
    unitOfWork: UnitOfWork,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.waiting = new KeptCount('waiting artifacts', unitOfWork, logger, countWaiting);
  }

  get count(): number {
    return this.waiting.value;
  }

  /** Counts a change that `tx` makes. */
  changed(tx: Transaction, difference: number): void {
    this.added.set(tx, (this.added.get(tx) ?? 0) + difference);
    this.waiting.changed(tx, difference);
  }

  /**
   * DomainError `unavailable` where more would wait after `tx` than may. For what clients publish: what agents publish was accepted with
   * what they work on. An artifact that completes a group makes room, and is always taken.
   */
  refuseExcess(tx: Transaction): void {
    const added = this.added.get(tx) ?? 0;
    const { maxWaitingArrivals } = this.settings;
    if (added <= 0 || this.count + added <= maxWaitingArrivals) return;
    throw new DomainError('unavailable', `${this.count} artifacts wait in joins, in batch windows or for their release, and this service keeps at most ${maxWaitingArrivals}; try again later`, {
      retryAfterSeconds: RETRY_AFTER_SECONDS,
    });
  }

  @Interval(RECOUNT_MS)
  recountShared(): Promise<void> {
    return this.waiting.recountShared();
  }

  recount(): Promise<void> {
    return this.waiting.recount();
  }
}

// The groups' sizes, which are fewer rows than their members.
async function countWaiting(reader: Reader): Promise<number> {
  const groups = reader.selectFrom('join_groups').select(sql<number>`coalesce(sum(size), 0)`.as('count')).where('state', '=', 'waiting');
  const releases = reader.selectFrom('timers').select(({ fn }) => fn.countAll<number>().as('count')).where('kind', '=', 'release');
  const counts = await Promise.all([groups.executeTakeFirstOrThrow(), releases.executeTakeFirstOrThrow()]);
  return counts.reduce((sum, { count }) => sum + Number(count), 0);
}
