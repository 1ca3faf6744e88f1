import { Injectable } from '@nestjs/common';

import { Admission } from '../../blackboard/publishing/admission.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { DefinitionChecks } from './definition-checks.js';
import type { ExperimentBody } from './dto/experiment-body.js';
import type { ExperimentRequest } from './dto/experiment-request.js';
import { experimentBody, experimentNotFound } from './experiment.js';
import { ExperimentImport } from './experiment-import.js';
import { ExperimentLoop } from './experiment-loop.js';
import { ExperimentsRepository } from './experiments.repository.js';

/** Starts experiments. */
@Injectable()
export class ExperimentCreationService {
  constructor(
    private readonly admission: Admission,
    private readonly unitOfWork: UnitOfWork,
    private readonly checks: DefinitionChecks,
    private readonly importer: ExperimentImport,
    private readonly experiments: ExperimentsRepository,
    private readonly loop: ExperimentLoop,
  ) {}

  /**
   * Returns when the rows are stored; their trials then run in the background. DomainError: `invalid`, `not_found` and
   * `conflict` (the batch does not exist or still runs; too many experiments run), `unavailable`.
   */
  async create(request: ExperimentRequest, id: string): Promise<ExperimentBody> {
    await this.admission.refuseWhenBusy();
    const { reader } = this.unitOfWork;
    // A request that is repeated with its idempotency key after a crash finds the experiment that it created.
    if (!(await this.experiments.find(reader, id))) {
      const { definition, data } = await this.checks.check(request);
      await this.importer.store(request, id, definition, data);
    }
    const experiment = await this.experiments.find(reader, id);
    if (!experiment) throw experimentNotFound(id);
    this.loop.wake();
    return experimentBody(experiment);
  }
}
