import { BackgroundLoop } from '../../common/background-loop.js';
import type { Clock } from '../../common/clock.js';
import type { Logger } from '../../common/logger.js';
import { laterTurn, scheduler } from '../../common/scheduler.js';
import type { UnitOfWork } from '../../database/unit-of-work.js';
import type { SchedulerLock, SchedulerLocks } from './scheduler-locks.repository.js';

/** After a crash, the next process continues when this time has passed. */
const LOCK_MS = 5_000;

/** A process that has left work to others does not take the lock for this time, which is longer than their pauses. */
const REST_MS = 2_000;

/** False if the item cannot continue now. `left` if another live process must continue it. */
export type StepResult = boolean | 'left';

/** The rounds of one process, from taking the lock until nothing can continue. */
export interface Pass<Item> {
  /** Does one step. */
  step(item: Item): Promise<StepResult>;
  /** A step has thrown. */
  failed?(item: Item): void;
}

export interface RoundsOptions<Item> {
  /** The row in `scheduler_locks`. */
  lock: string;
  /** One item, for the log. */
  itemName: string;
  /** Finds the items that have work left, the oldest first. */
  find(): Promise<Item[]>;
  /**
   * A step that stores something renews the lock in its transaction, and stores nothing if that fails. A step that takes
   * long keeps the lock meanwhile.
   */
  begin(lock: SchedulerLock): Pass<Item>;
}

interface Services {
  clock: Clock;
  logger: Logger;
  locks: SchedulerLocks;
  unitOfWork: UnitOfWork;
}

/**
 * Continues stored items of background work in turn, a step at a time. One process does this at a time. What a step
 * does and its progress are one transaction, so that after a crash nothing is done twice.
 */
export class LockedRounds<Item extends { id: string }> {
  private readonly work: BackgroundLoop;
  /** Machine time in ms. */
  private restsUntil = 0;

  constructor(
    private readonly options: RoundsOptions<Item>,
    private readonly services: Services,
  ) {
    const { clock, logger } = services;
    this.work = new BackgroundLoop(() => this.runAll(), {
      clock,
      logger,
      failure: `${options.itemName}s could not be continued`,
    });
  }

  /** Resolves when no item can continue. Does nothing if another process has the lock. */
  run(): Promise<void> {
    return this.work.run();
  }

  /** Begins a pass, or another one after the one that is running. */
  wake(): void {
    this.work.wake();
  }

  stop(): Promise<void> {
    return this.work.stop();
  }

  private async runAll(): Promise<void> {
    if (scheduler.elapsed() < this.restsUntil) return;
    // Taking the lock is a write, so it is not taken without need.
    if ((await this.options.find()).length === 0) return;
    const lock = await this.services.locks.take(this.options.lock, LOCK_MS);
    if (!lock) return;
    const pass = this.options.begin(lock);
    let result: StepResult;
    do result = await this.round(pass);
    while (result === true);
    if (result === 'left') this.restsUntil = scheduler.elapsed() + REST_MS;
    await this.services.unitOfWork.run((tx) => lock.release(tx));
  }

  /** Does one step of each item. Returns false if none could continue, and `left` if one needs another process. */
  private async round(pass: Pass<Item>): Promise<StepResult> {
    let hasMoved = false;
    let isLeft = false;
    for (const item of await this.options.find()) {
      if (this.work.stopped) return false;
      try {
        const result = await pass.step(item);
        if (result === 'left') isLeft = true;
        else if (result) hasMoved = true;
      } catch (error) {
        pass.failed?.(item);
        const { itemName } = this.options;
        this.services.logger.warn({ err: error, [itemName]: item.id }, `a step of an ${itemName} failed; trying again`);
      }
      await laterTurn();
    }
    return isLeft ? 'left' : hasMoved;
  }
}
