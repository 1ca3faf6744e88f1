import { Injectable } from '@nestjs/common';

import type { StepResult } from '../../blackboard/processes/locked-rounds.js';
import type { SchedulerLock } from '../../blackboard/processes/scheduler-locks.repository.js';
import { newId } from '../../common/ids.js';
import { Settings } from '../../config/settings.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Conclusion } from './conclusion.js';
import { goesOn, totalOf, usedUp } from './experiment.js';
import { ExperimentRowsRepository } from './experiment-rows.repository.js';
import { type Experiment, ExperimentsRepository } from './experiments.repository.js';
import { judgesIn } from './judges.js';
import { AT_ONCE, TrialProgress } from './trial-progress.js';
import { TrialStore } from './trial-store.js';
import { type NewTrial, type OpenTrial, TrialsRepository } from './trials.repository.js';

/** One step of an experiment: continues its open trials, starts others in its free places, and ends it. */
@Injectable()
export class ExperimentStep {
  constructor(
    private readonly settings: Settings,
    private readonly unitOfWork: UnitOfWork,
    private readonly experiments: ExperimentsRepository,
    private readonly rows: ExperimentRowsRepository,
    private readonly trials: TrialsRepository,
    private readonly progress: TrialProgress,
    private readonly store: TrialStore,
    private readonly conclusion: Conclusion,
  ) {}

  /** `watch` gets the ids of correlations whose end lets it continue. */
  async take(
    lock: SchedulerLock,
    experiment: Experiment,
    watch: (ids: readonly string[]) => void,
  ): Promise<StepResult> {
    const open = await this.trials.open(this.unitOfWork.reader, experiment.seq);
    if (experiment.state !== 'running') return this.progress.abandon(lock, experiment, open.slice(0, AT_ONCE));
    if (!goesOn(experiment)) return this.conclusion.cancel(experiment);
    watch(open.flatMap(({ correlation_id, scores }) => [correlation_id, ...judgesIn(scores)]));
    const { trials, areLeft } = await this.progress.ready(experiment, open);
    const hasMoved = await this.continueSome(lock, experiment, trials);
    const isStepDone = (await this.startOrEnd(lock, experiment, open.length)) || hasMoved;
    return areLeft ? 'left' : isStepDone;
  }

  private async startOrEnd(lock: SchedulerLock, experiment: Experiment, open: number): Promise<boolean> {
    const reason = usedUp(experiment);
    const isThrough = reason !== null || experiment.next_trial === totalOf(experiment);
    if (!isThrough) return this.startSome(lock, experiment, open);
    if (open > 0) return false;
    return this.conclusion.end(lock, experiment, experiment.next_trial === totalOf(experiment) ? null : reason);
  }

  private async continueSome(
    lock: SchedulerLock,
    experiment: Experiment,
    trials: readonly OpenTrial[],
  ): Promise<boolean> {
    if (trials.length === 0) return false;
    const positions = trials.map(({ position }) => position);
    const rows = await this.rows.at(this.unitOfWork.reader, experiment.seq, positions);
    return this.progress.continue(lock, { experiment, trials, rows });
  }

  private async startSome(lock: SchedulerLock, experiment: Experiment, open: number): Promise<boolean> {
    const { next_trial: next, variants } = experiment;
    const free = Math.min((await this.placesOf(experiment)) - open, AT_ONCE, totalOf(experiment) - next);
    if (free <= 0) return false;
    const trials = Array.from({ length: free }, (_, index): NewTrial => {
      const number = next + index;
      return { position: Math.floor(number / variants), variant: number % variants, correlation_id: newId() };
    });
    return this.store.start(lock, experiment, trials);
  }

  /**
   * All experiments together run at most half as many trials as a process has slots, and each of them at least one. So
   * trials with one execution at a time leave slots to other work.
   */
  private async placesOf({ max_workers }: Experiment): Promise<number> {
    const running = Math.max(await this.experiments.countRunning(this.unitOfWork.reader), 1);
    const share = Math.floor(this.settings.maxConcurrentExecutions / 2 / running);
    return Math.min(max_workers, Math.max(1, share));
  }
}
