import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Role } from '../../common/role.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { LockedRounds } from '../processes/locked-rounds.js';
import { type SchedulerLock, SchedulerLocks } from '../processes/scheduler-locks.repository.js';
import type { Operation, OperationFilter, Step } from './operation.js';
import { addHandled, endOperation, findRunning, moveTo } from './operation-rows.js';
import { OperationWorks } from './operation-works.js';

const TICK_MS = 1_000;

/** Continues the running operations. Each step is one transaction, which also stores its progress. */
@Injectable()
export class OperationLoop implements OnModuleDestroy {
  private readonly rounds: LockedRounds<Operation>;

  constructor(
    private readonly works: OperationWorks,
    private readonly clock: Clock,
    private readonly role: Role,
    private readonly unitOfWork: UnitOfWork,
    locks: SchedulerLocks,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.rounds = new LockedRounds(
      {
        lock: 'operations',
        itemName: 'operation',
        find: () => findRunning(unitOfWork.reader),
        begin: (lock) => {
          const found = new Map<string, Step[]>();
          return {
            step: (operation) => this.step(lock, operation, found),
            failed: ({ id }) => void found.delete(id),
          };
        },
      },
      { clock, logger, locks, unitOfWork },
    );
  }

  /**
   * Resolves when no operation can continue. Does nothing if another process continues them or this one lacks the worker
   * role.
   */
  @Interval(TICK_MS)
  async run(): Promise<void> {
    if (this.role.worker) await this.rounds.run();
  }

  onModuleDestroy(): Promise<void> {
    return this.rounds.stop();
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
