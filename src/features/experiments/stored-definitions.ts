import { Injectable } from '@nestjs/common';

import { UnitOfWork } from '../../database/unit-of-work.js';
import type { Definition } from './definition.js';
import { definitionOf } from './experiment.js';
import { type Experiment, ExperimentsRepository } from './experiments.repository.js';

/** More than can run at the same time. */
const MOST_KEPT = 20;

/** Reads the definitions of experiments. They may be large and never change, so that those of running ones are kept. */
@Injectable()
export class StoredDefinitions {
  private readonly kept = new Map<number, Definition>();

  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly experiments: ExperimentsRepository,
  ) {}

  async of({ seq }: Pick<Experiment, 'seq'>): Promise<Definition> {
    const known = this.kept.get(seq);
    if (known) return known;
    const definition = definitionOf(await this.experiments.definition(this.unitOfWork.reader, seq));
    this.kept.set(seq, definition);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MOST_KEPT) this.kept.delete(oldest!);
    return definition;
  }
}
