import { Injectable } from '@nestjs/common';

import { Clock } from '../../common/clock.js';
import { DomainError } from '../../common/domain-error.js';
import { type Transaction, UnitOfWork } from '../../database/unit-of-work.js';
import { DataSets } from './data-sets.js';
import type { Definition } from './definition.js';
import type { GivenData } from './definition-form.js';
import { MOST_ROWS } from './dto/definition-schemas.js';
import { DEFAULT_WORKERS, type ExperimentRequest } from './dto/experiment-request.js';
import { ExperimentRemoval } from './experiment-removal.js';
import { ExperimentsRepository } from './experiments.repository.js';
import { RowStore } from './row-store.js';

export const MOST_RUNNING = 10;

/** Lock name of the number of running experiments. */
const EXPERIMENTS = 'experiments';

/** Stores a new experiment with its rows. It is hidden until all of them are stored. */
@Injectable()
export class ExperimentImport {
  constructor(
    private readonly clock: Clock,
    private readonly unitOfWork: UnitOfWork,
    private readonly dataSets: DataSets,
    private readonly rows: RowStore,
    private readonly experiments: ExperimentsRepository,
    private readonly removal: ExperimentRemoval,
  ) {}

  /** DomainError: those of the data set, `conflict` (too many experiments run), `unavailable`. Nothing is stored then. */
  async store(request: ExperimentRequest, id: string, definition: Definition, data: GivenData): Promise<void> {
    await this.refuseTooMany(this.unitOfWork.reader);
    const variants = definition.variants.length;
    const seq = await this.unitOfWork.run((tx) => this.begin(tx, request, id, definition));
    try {
      const parts = this.dataSets.rows(data, definition.expected);
      const rows = await this.rows.store(seq, parts, { limit: data.limit ?? MOST_ROWS + 1, variants });
      await this.unitOfWork.run((tx) => this.start(tx, seq, rows));
    } catch (error) {
      await this.discard(id, seq);
      throw error;
    }
  }

  private async begin(
    tx: Transaction,
    { name, max_workers = DEFAULT_WORKERS, max_cost, max_tokens }: ExperimentRequest,
    id: string,
    definition: Definition,
  ): Promise<number> {
    await this.experiments.hideImport(tx, id);
    return this.experiments.insert(tx, {
      id,
      name: name ?? null,
      state: 'importing',
      definition: JSON.stringify(definition),
      variants: definition.variants.length,
      variant_names: JSON.stringify(definition.variants.map((variant) => variant.name)),
      max_workers,
      max_cost: max_cost ?? null,
      max_tokens: max_tokens ?? null,
      created_at: this.clock.now(),
    });
  }

  private async start(tx: Transaction, seq: number, rows: number): Promise<void> {
    await tx.lock([EXPERIMENTS]);
    await this.refuseTooMany(tx.db);
    if (await this.experiments.start(tx, seq, rows)) return;
    throw new DomainError('unavailable', 'Retention has deleted the rows of the experiment; send it again');
  }

  private async refuseTooMany(db: Transaction['db']): Promise<void> {
    if ((await this.experiments.countRunning(db)) < MOST_RUNNING) return;
    throw new DomainError(
      'conflict',
      `${MOST_RUNNING} experiments are running, which is the most; wait until one has ended, or cancel one`,
    );
  }

  private async discard(id: string, seq: number): Promise<void> {
    try {
      // It runs if its last transaction was committed although the database did not say so.
      if (!(await this.unitOfWork.run((tx) => this.experiments.hideImport(tx, id)))) return;
      await this.removal.remove(seq, (work) => this.unitOfWork.run(work));
    } catch {
      // The database is gone. What is left is not visible, and retention deletes it.
    }
  }
}
