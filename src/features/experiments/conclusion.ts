import { Injectable } from '@nestjs/common';

import type { SchedulerLock } from '../../blackboard/processes/scheduler-locks.repository.js';
import { Clock } from '../../common/clock.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { type Experiment, ExperimentsRepository } from './experiments.repository.js';
import { Summaries } from './summaries.js';

/** Ends experiments whose trials have ended. */
@Injectable()
export class Conclusion {
  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly experiments: ExperimentsRepository,
    private readonly summaries: Summaries,
  ) {}

  /** `reason`: why some of its trials were not started. Returns false if another process has the lock. */
  async end(lock: SchedulerLock, experiment: Experiment, reason: string | null): Promise<boolean> {
    const summary = JSON.stringify(await this.summaries.of(experiment, () => lock.keep()));
    const error = reason && `${reason}, so some rows were not tried; increase it to try all of them`;
    return this.unitOfWork.run(async (tx) => {
      if (!(await lock.renew(tx))) return false;
      const state = error === null ? 'completed' : 'failed';
      return this.experiments.end(tx, experiment.id, { state, error, summary, at: this.clock.now() });
    });
  }
}
