import { Injectable } from '@nestjs/common';

import { yieldToEventLoop } from '../../common/event-loop.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import type { Experiment } from './experiments.repository.js';
import type { Score } from './score.js';
import { StoredDefinitions } from './stored-definitions.js';
import { ScoreTable, summarized, type Summary } from './summary.js';
import { TrialsRepository } from './trials.repository.js';

/** Rows that one query reads. After it, other requests can run. */
const WINDOW = 200;

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
    for (let from = 0; from < rows; from += WINDOW) {
      for (const trial of await this.trials.scored(reader, seq, { from, rows: WINDOW })) {
        const scores = JSON.parse(trial.scores ?? '[]') as Score[];
        const numbers = scores.map(({ score }) => score);
        table.add(trial.position, trial.variant, trial.output_digest, numbers);
      }
      await yieldToEventLoop();
      await keepOn();
    }
    const steps = summarized(definition, table, await this.trials.sums(reader, seq));
    for (;;) {
      const { done, value } = steps.next();
      if (done) return value;
      await yieldToEventLoop();
      await keepOn();
    }
  }
}
