import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { Conclusion } from './conclusion.js';
import type { ExperimentBody } from './dto/experiment-body.js';
import { experimentBody, experimentNotFound } from './experiment.js';
import { ExperimentLoop } from './experiment-loop.js';
import { type Experiment, ExperimentsRepository, type WholeExperiment } from './experiments.repository.js';

/** Cancels experiments. */
@Injectable()
export class ExperimentControlService {
  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly experiments: ExperimentsRepository,
    private readonly conclusion: Conclusion,
    private readonly loop: ExperimentLoop,
  ) {}

  /**
   * Nothing more starts, and the loop cancels what runs, also after a crash. DomainError: `not_found`, `conflict` (it has
   * ended).
   */
  async cancel(id: string): Promise<ExperimentBody> {
    const isCancelled = await this.unitOfWork.run((tx) => this.experiments.cancel(tx, id, this.clock.now()));
    const experiment = await this.find(id);
    if (!isCancelled) throw hasEnded(experiment);
    await this.conclusion.cancel(experiment);
    const ended = await this.find(id);
    // Its last trial may have ended before it was cancelled.
    if (ended.state !== 'cancelled') throw hasEnded(ended);
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
