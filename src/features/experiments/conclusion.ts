import { Injectable } from '@nestjs/common';

import type { SchedulerLock } from '../../blackboard/processes/scheduler-locks.repository.js';
import { Clock } from '../../common/clock.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { type Experiment, ExperimentsRepository } from './experiments.repository.js';
import { Summaries } from './summaries.js';

/** Ends experiments. Their summaries are stored with their states. */
@Injectable()
export class Conclusion {
  /** Running cancellations, by the ids of their experiments. A summary takes long, and one is enough. */
  private readonly cancelling = new Map<string, Promise<boolean>>();

  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly experiments: ExperimentsRepository,
    private readonly summaries: Summaries,
  ) {}

  /**
   * Ends an experiment whose trials have ended. `reason`: why some of its trials were not started. Returns false if
   * another process has the lock.
   */
  async end(lock: SchedulerLock, experiment: Experiment, reason: string | null): Promise<boolean> {
    const summary = JSON.stringify(await this.summaries.of(experiment, () => lock.keep()));
    const error = reason && `${reason}, so some rows were not tried; increase it to try all of them`;
    return this.unitOfWork.run(async (tx) => {
      if (!(await lock.renew(tx))) return false;
      const state = error === null ? 'completed' : 'failed';
      return this.experiments.end(tx, experiment.id, { state, error, summary, at: this.clock.now() });
    });
  }

  /**
   * Ends an experiment that was cancelled, also if it was cancelled before a crash. It needs no lock: no trial of the
   * experiment ends any more, so all processes find the same summary. Returns false if another one has stored it.
   */
  cancel(experiment: Experiment): Promise<boolean> {
    const { id } = experiment;
    let running = this.cancelling.get(id);
    if (!running) {
      running = this.cancelOnce(experiment).finally(() => this.cancelling.delete(id));
      this.cancelling.set(id, running);
    }
    return running;
  }

  private async cancelOnce(experiment: Experiment): Promise<boolean> {
    const summary = JSON.stringify(await this.summaries.of(experiment));
    const end = { state: 'cancelled', error: null, summary, at: this.clock.now() } as const;
    return this.unitOfWork.run((tx) => this.experiments.end(tx, experiment.id, end));
  }
}
