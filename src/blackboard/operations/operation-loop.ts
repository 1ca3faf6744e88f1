import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { BackgroundLoop } from '../../common/background-loop.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Role } from '../../common/role.js';
import { laterTurn } from '../../common/scheduler.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { type SchedulerLock, SchedulerLocks } from '../processes/scheduler-locks.repository.js';
import type { Operation, OperationFilter, Step } from './operation.js';
import { addHandled, endOperation, findRunning, moveTo } from './operation-rows.js';
import { OperationWorks } from './operation-works.js';

const TICK_MS = 1_000;
/** After a crash, the next process continues when this time has passed. */
const LOCK_MS = 5_000;

/**
 * Continues the running operations in turn, a step at a time. One process does this at a time. Each step is one
 * transaction, which also stores its progress, so that after a crash nothing is handled twice.
 */
@Injectable()
export class OperationLoop implements OnModuleDestroy {
  private readonly work: BackgroundLoop;

  constructor(
    private readonly works: OperationWorks,
    private readonly clock: Clock,
    private readonly role: Role,
    private readonly unitOfWork: UnitOfWork,
    private readonly locks: SchedulerLocks,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    const failure = 'operations could not be continued';
    this.work = new BackgroundLoop(() => this.runAll(), { clock, logger, failure });
  }

  /**
   * Resolves when no operation can continue. Does nothing if another process continues them or this one lacks the worker
   * role.
   */
  @Interval(TICK_MS)
  async run(): Promise<void> {
    if (this.role.worker) await this.work.run();
  }

  onModuleDestroy(): Promise<void> {
    return this.work.stop();
  }

  private async runAll(): Promise<void> {
    // Taking the lock is a write, so it is not taken without need.
    if ((await findRunning(this.unitOfWork.reader)).length === 0) return;
    const lock = await this.locks.take('operations', LOCK_MS);
    if (!lock) return;
    const found = new Map<string, Step[]>();
    while (await this.round(lock, found));
    await this.unitOfWork.run((tx) => lock.release(tx));
  }

  /** Does one step of each operation. Returns false if none could continue. */
  private async round(lock: SchedulerLock, found: Map<string, Step[]>): Promise<boolean> {
    let hasMoved = false;
    for (const operation of await findRunning(this.unitOfWork.reader)) {
      if (this.work.stopped) return false;
      try {
        if (await this.step(lock, operation, found)) hasMoved = true;
      } catch (error) {
        found.delete(operation.id);
        this.logger.warn({ err: error, operation: operation.id }, 'a step of an operation failed; trying again');
      }
      await laterTurn();
    }
    return hasMoved;
  }

  /** `found`: the next steps of each operation. Returns false if the operation cannot continue now. */
  private async step(lock: SchedulerLock, operation: Operation, found: Map<string, Step[]>): Promise<boolean> {
    const { id, kind } = operation;
    const work = this.works.of(kind);
    if (!work.hasRoom()) return false;
    let steps = found.get(id) ?? [];
    if (steps.length === 0) steps = await work.next(operation, JSON.parse(operation.filter) as OperationFilter);
    const step = steps.shift();
    found.set(id, steps);
    if (!step) return this.unitOfWork.run((tx) => endOperation(tx, id, 'completed', this.clock.now()));
    return this.unitOfWork.run(async (tx) => {
      await tx.lock(step.locks);
      // False if another process has taken over, or if a client has cancelled the operation.
      if (!(await lock.renew(tx)) || !(await moveTo(tx, id, step.position))) return false;
      await addHandled(tx, id, await step.run(tx));
      return true;
    });
  }
}
