import { Inject, Injectable, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';

import { LockedRounds, type StepResult } from '../../blackboard/processes/locked-rounds.js';
import { type SchedulerLock, SchedulerLocks } from '../../blackboard/processes/scheduler-locks.repository.js';
import { Clock } from '../../common/clock.js';
import { LOGGER, type Logger } from '../../common/logger.js';
import { Role } from '../../common/role.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Signals } from '../../pubsub/signals.js';
import { ExperimentStep } from './experiment-step.js';
import { type Experiment, ExperimentsRepository } from './experiments.repository.js';

const TICK_MS = 1_000;
const MOST_WATCHED = 10_000;

/**
 * Continues running experiments when a correlation of theirs has ended. A signal can be lost, so they are also looked at
 * every second; only the database knows what remains to be done.
 */
@Injectable()
export class ExperimentLoop implements OnModuleInit, OnModuleDestroy {
  private readonly rounds: LockedRounds<Experiment>;
  /** Correlations that an experiment waits for. */
  private readonly watched = new Set<string>();
  /** Correlations that end while a step reads which ones are open, and may see them as open. Null at other times. */
  private endedMeanwhile: Set<string> | null = null;

  constructor(
    private readonly role: Role,
    private readonly signals: Signals,
    private readonly steps: ExperimentStep,
    experiments: ExperimentsRepository,
    unitOfWork: UnitOfWork,
    locks: SchedulerLocks,
    clock: Clock,
    @Inject(LOGGER) logger: Logger,
  ) {
    this.rounds = new LockedRounds(
      {
        lock: 'experiments',
        itemName: 'experiment',
        find: () => experiments.withWork(unitOfWork.reader),
        begin: (lock) => ({ step: (experiment) => this.step(lock, experiment) }),
      },
      { clock, logger, locks, unitOfWork },
    );
  }

  onModuleInit(): void {
    this.signals.correlationSettled.subscribe(({ correlationId }) => {
      this.endedMeanwhile?.add(correlationId);
      if (this.watched.delete(correlationId)) this.wake();
    });
  }

  onModuleDestroy(): Promise<void> {
    return this.rounds.stop();
  }

  /** Looks at all experiments, if this process has the worker role. */
  wake(): void {
    if (this.role.worker) this.rounds.wake();
  }

  /** Resolves when no experiment can continue. */
  @Interval(TICK_MS)
  async run(): Promise<void> {
    if (this.role.worker) await this.rounds.run();
  }

  private async step(lock: SchedulerLock, experiment: Experiment): Promise<StepResult> {
    this.endedMeanwhile = new Set();
    try {
      return await this.steps.take(lock, experiment, (ids) => this.watch(ids));
    } finally {
      this.endedMeanwhile = null;
    }
  }

  private watch(ids: readonly string[]): void {
    // Another process may have continued some of them, which are then never removed one by one.
    if (this.watched.size > MOST_WATCHED) this.watched.clear();
    for (const id of ids) this.watched.add(id);
    if (ids.some((id) => this.endedMeanwhile?.has(id))) this.wake();
    this.endedMeanwhile = null;
  }
}
