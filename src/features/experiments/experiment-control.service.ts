import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { ExperimentBody } from './dto/experiment-body.js';
import { experimentBody, experimentNotFound } from './experiment.js';
import { ExperimentLoop } from './experiment-loop.js';
import { type Experiment, ExperimentsRepository, type WholeExperiment } from './experiments.repository.js';
import { Summaries } from './summaries.js';

/** Cancels experiments. */
@Injectable()
export class ExperimentControlService {
  /** Running requests, by the ids of their experiments. A summary takes long, and one is enough. */
  private readonly cancelling = new Map<string, Promise<ExperimentBody>>();

  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly experiments: ExperimentsRepository,
    private readonly summaries: Summaries,
    private readonly loop: ExperimentLoop,
  ) {}

  /**
   * Nothing more starts, and the loop cancels what runs, also after a crash. DomainError: `not_found`, `conflict` (it has
   * ended).
   */
  cancel(id: string): Promise<ExperimentBody> {
    let running = this.cancelling.get(id);
    if (!running) {
      running = this.cancelOnce(id).finally(() => this.cancelling.delete(id));
      this.cancelling.set(id, running);
    }
    return running;
  }

  private async cancelOnce(id: string): Promise<ExperimentBody> {
    const experiment = await this.find(id);
    if (experiment.state !== 'running') throw hasEnded(experiment);
    const summary = JSON.stringify(await this.summaries.of(experiment));
    const end = { state: 'cancelled', error: null, summary, at: this.clock.now() } as const;
    const isCancelled = await this.unitOfWork.run((tx) => this.experiments.end(tx, id, end));
    const ended = await this.find(id);
    if (!isCancelled) throw hasEnded(ended);
    this.loop.wake();
    return experimentBody(ended);
  }

  private async find(id: string): Promise<WholeExperiment> {
    const experiment = await this.experiments.find(this.unitOfWork.reader, id);
    if (!experiment) throw experimentNotFound(id);
    return experiment;
  }
}

const hasEnded = ({ id, state }: Experiment): DomainError =>
  new DomainError('conflict', `Experiment ${id} has already ended (${state}) and cannot be cancelled`);
