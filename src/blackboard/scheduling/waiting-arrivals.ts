import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { DomainError } from '../../common/domain-error.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Settings } from '../../config/settings.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { KeptCount } from './kept-count.js';
import { countWaitingArrivals } from './waiting-rows.js';

const RETRY_AFTER_SECONDS = 5;
const RECOUNT_MS = 1_000;

/**
 * Counts waiting artifacts: those in joins and batch windows, once per subscription, and those that are released later.
 * They need a limit, because some wait without a time limit and clients could add to them forever.
 */
@Injectable()
export class WaitingArrivals {
  private readonly waiting: KeptCount;
  /** The sum of the changes of each transaction. */
  private readonly added = new WeakMap<Transaction, number>();

  constructor(
    private readonly settings: Settings,
    unitOfWork: UnitOfWork,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.waiting = new KeptCount('waiting artifacts', unitOfWork, logger, countWaitingArrivals);
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
   * Throws DomainError `unavailable` if `tx` would exceed the limit. Only for artifacts of clients: the service
   * accepted those of agents together with their inputs. An artifact that completes a group makes room and is always
   * accepted.
   */
  refuseExcess(tx: Transaction): void {
    const added = this.added.get(tx) ?? 0;
    const { maxWaitingArrivals } = this.settings;
    if (added <= 0 || this.count + added <= maxWaitingArrivals) return;
    throw new DomainError(
      'unavailable',
      `${this.count} artifacts wait in joins, in batch windows or for their release, and this service keeps at most ${maxWaitingArrivals}; try again later, or look in GET /api/v1/waiting for a join without within or a batch window without timeout, which wait without end`,
      {
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      },
    );
  }

  @Interval(RECOUNT_MS)
  recountShared(): Promise<void> {
    return this.waiting.recountShared();
  }

  recount(): Promise<void> {
    return this.waiting.recount();
  }
}
