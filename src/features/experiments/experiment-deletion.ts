import { Injectable, type OnModuleInit } from '@nestjs/common';

import { AT_ONCE, type Cleanup, type Deletion } from '../../blackboard/retention/cleanup.js';
import { Retention } from '../../blackboard/retention/retention.js';
import { SettledCorrelations } from '../../blackboard/retention/settled-correlations.js';
import { Settings } from '../../config/settings.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { ExperimentRemoval } from './experiment-removal.js';
import { ExperimentsRepository } from './experiments.repository.js';
import { hasOpenTrial } from './trials.repository.js';

/** An import of at most some thousand rows takes seconds. One that is older was left by a process that has ended. */
const LONGEST_IMPORT_MS = 3_600_000;

/**
 * Deletes experiments that ended longer than `retain_batches` ago. The correlations of their trials are deleted by
 * themselves, as other correlations are, but not before they are scored: a trial whose correlation is gone would begin
 * again.
 */
@Injectable()
export class ExperimentDeletion implements Deletion, OnModuleInit {
  readonly name = 'experiments';

  constructor(
    private readonly settings: Settings,
    private readonly unitOfWork: UnitOfWork,
    private readonly retention: Retention,
    private readonly correlations: SettledCorrelations,
    private readonly experiments: ExperimentsRepository,
    private readonly removal: ExperimentRemoval,
  ) {}

  onModuleInit(): void {
    this.retention.add(this);
    this.correlations.add({ readsContent: hasOpenTrial, names: hasOpenTrial });
  }

  async run(cleanup: Cleanup): Promise<number> {
    const cutoff = cleanup.cutoff(this.settings.retainBatchesMs);
    let hidden = 0;
    for (let some = AT_ONCE; cutoff !== null && some === AT_ONCE && (await cleanup.goesOn()); hidden += some) {
      some = await cleanup.step((tx) => this.experiments.hideSome(tx, cutoff));
    }
    await this.hideLeftImports(cleanup);
    for (const seq of await this.experiments.hidden(this.unitOfWork.reader))
      await this.removal.remove(seq, async (work) => ((await cleanup.goesOn()) ? cleanup.step(work) : null));
    return hidden;
  }

  private async hideLeftImports(cleanup: Cleanup): Promise<void> {
    const begunBy = cleanup.now - LONGEST_IMPORT_MS;
    // Each step is a write, also if it finds nothing.
    if (!(await this.experiments.isLeft(this.unitOfWork.reader, begunBy)) || !(await cleanup.goesOn())) return;
    await cleanup.step((tx) => this.experiments.hideLeft(tx, begunBy));
  }
}
