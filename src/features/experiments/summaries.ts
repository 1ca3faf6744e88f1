import { Injectable } from '@nestjs/common';

import { yieldToEventLoop } from '../../common/event-loop.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { Experiment } from './experiments.repository.js';
import type { Score } from './score.js';
import { StoredDefinitions } from './stored-definitions.js';
import { ScoreTable, summarized, type Summary } from './summary.js';
import { TrialsRepository } from './trials.repository.js';

/** Trials that one query reads at most. After it, other requests can run. */
const AT_ONCE = 400;

/** Adds up the trials of experiments. */
@Injectable()
export class Summaries {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly trials: TrialsRepository,
    private readonly definitions: StoredDefinitions,
  ) {}

  /** Only trials that have ended count. `keepOn` is called now and then, because a large summary takes seconds. */
  async of(experiment: Experiment, keepOn: () => Promise<unknown> = () => Promise.resolve()): Promise<Summary> {
    const { reader } = this.unitOfWork;
    const definition = await this.definitions.of(experiment);
    const { seq, row_count: rows } = experiment;
    const table = new ScoreTable(definition, rows);
    const window = Math.floor(AT_ONCE / experiment.variants);
    for (let from = 0; from < rows; from += window) {
      for (const trial of await this.trials.scored(reader, seq, { from, rows: window })) {
        const scores = JSON.parse(trial.scores ?? '[]') as Score[];
        table.add(
          trial,
          scores.map(({ score }) => score),
        );
      }
      await yieldToEventLoop();
      await keepOn();
    }
    const steps = summarized(definition, table);
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      await yieldToEventLoop();
      await keepOn();
    }
  }
}
