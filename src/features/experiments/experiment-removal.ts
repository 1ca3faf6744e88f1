import { Injectable } from '@nestjs/common';

import { AT_ONCE } from '../../blackboard/retention/cleanup.js';
import type { Transaction } from '../../database/unit-of-work.js';
import { ExperimentRowsRepository } from './experiment-rows.repository.js';
import { ExperimentsRepository } from './experiments.repository.js';
import { TrialsRepository } from './trials.repository.js';

/** Runs one small transaction. Returns how many rows it deleted; null if this process must not continue. */
type Step = (work: (tx: Transaction) => Promise<number>) => Promise<number | null>;

/** Deletes hidden experiments. */
@Injectable()
export class ExperimentRemoval {
  constructor(
    private readonly experiments: ExperimentsRepository,
    private readonly rows: ExperimentRowsRepository,
    private readonly trials: TrialsRepository,
  ) {}

  /** Returns when nothing of the experiment is left, or when it must not continue. */
  async remove(seq: number, step: Step): Promise<void> {
    // A few trials of each of the rows are deleted with one another.
    for (let deleted: number | null = 1; deleted !== 0;) {
      deleted = await step((tx) => this.trials.deleteSome(tx, seq));
      if (deleted === null) return;
    }
    for (let deleted: number | null = AT_ONCE; deleted === AT_ONCE;) {
      deleted = await step((tx) => this.rows.deleteSome(tx, seq));
      if (deleted === null) return;
    }
    await step((tx) => this.experiments.delete(tx, seq));
  }
}
