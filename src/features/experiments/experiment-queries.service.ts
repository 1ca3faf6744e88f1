import { Injectable } from '@nestjs/common';

import { Processes } from '../../blackboard/processes/processes.js';
import { configurationKey } from '../../catalog/replay-configuration.js';
import { yieldToEventLoop } from '../../common/event-loop.js';
import { notFromEarlierPage, partsOf } from '../../common/page-cursor.js';
import { UnitOfWork } from '../../database/unit-of-work.js';
import { nextPage } from '../../http/dto/page.js';
import { usageField } from '../../http/dto/usage-body.js';
import { configurationsIn, type Definition } from './definition.js';
import type { ExperimentBody, ExperimentListBody, ExperimentListQuery } from './dto/experiment-body.js';
import type {
  ExperimentRowBody,
  ExperimentRowsBody,
  ExperimentRowsQuery,
  TrialBody,
  TrialScoreBody,
} from './dto/experiment-rows.js';
import { definitionOf, experimentBody, experimentNotFound, listedBody } from './experiment.js';
import { ExperimentRowsRepository, type ShownRow } from './experiment-rows.repository.js';
import { ExperimentsRepository, type WholeExperiment } from './experiments.repository.js';
import type { Score } from './score.js';
import { type Trial, TrialsRepository } from './trials.repository.js';

/** Rows that one query reads. After it, other requests can run. */
const AT_ONCE = 200;

/** Shows experiments and their rows. */
@Injectable()
export class ExperimentQueriesService {
  constructor(
    private readonly unitOfWork: UnitOfWork,
    private readonly experiments: ExperimentsRepository,
    private readonly rows: ExperimentRowsRepository,
    private readonly trials: TrialsRepository,
    private readonly processes: Processes,
  ) {}

  async list({ state, limit, offset }: ExperimentListQuery): Promise<ExperimentListBody> {
    const found = await this.experiments.list(this.unitOfWork.reader, state ?? null, { limit, offset });
    return {
      items: found.slice(0, limit).map(listedBody),
      pagination: { limit, offset, has_more: found.length > limit },
    };
  }

  /** Throws DomainError `not_found`. */
  async get(id: string): Promise<ExperimentBody> {
    const experiment = await this.find(id);
    const lacking = await this.lacking(experiment);
    return { ...experimentBody(experiment), ...(lacking.length > 0 && { waiting_for_configurations: lacking }) };
  }

  /** The names of the configurations that it waits for. */
  private async lacking(experiment: WholeExperiment): Promise<string[]> {
    if (experiment.state !== 'running') return [];
    const needed = configurationsIn(definitionOf(experiment));
    if (needed.length === 0) return [];
    const known = await this.processes.known();
    return needed.filter((each) => !known.hasConfiguration(configurationKey(each))).map(({ name }) => name);
  }

  /** Throws DomainError `not_found`, or `invalid` if `after` is not from an earlier page. */
  async rowsOf(id: string, { changed, limit, after }: ExperimentRowsQuery): Promise<ExperimentRowsBody> {
    const experiment = await this.find(id);
    const { reader } = this.unitOfWork;
    const { seq } = experiment;
    const last = after === undefined ? -1 : indexIn(after);
    const found = await this.positionsAfter(experiment, last, { changed, limit: limit + 1 });
    const positions = found.slice(0, limit);
    const rows = await this.rows.shown(reader, seq, positions);
    const trials = Map.groupBy(await this.trials.of(reader, seq, positions), ({ position }) => position);
    const definition = definitionOf(experiment);
    return {
      items: positions.flatMap((position) => {
        const row = rows.get(position);
        return row ? [rowBody(definition, row, trials.get(position) ?? [])] : [];
      }),
      pagination: nextPage(limit, after, found.length > limit ? [positions.at(-1)!] : null),
    };
  }

  /** Only a search for changed rows may have to read all. */
  private async positionsAfter(
    { seq, variants, next_trial }: WholeExperiment,
    last: number,
    { changed, limit }: { changed: boolean; limit: number },
  ): Promise<number[]> {
    const { reader } = this.unitOfWork;
    const begun = Math.ceil(next_trial / variants);
    const changedOf = changed ? variants : null;
    const found: number[] = [];
    for (let after = last; after + 1 < begun && found.length < limit; after += AT_ONCE) {
      const part = { after, to: after + AT_ONCE, limit: limit - found.length, changedOf };
      found.push(...(await this.trials.positions(reader, seq, part)));
      await yieldToEventLoop();
    }
    return found;
  }

  private async find(id: string): Promise<WholeExperiment> {
    const experiment = await this.experiments.find(this.unitOfWork.reader, id);
    if (!experiment) throw experimentNotFound(id);
    return experiment;
  }
}

function indexIn(after: string): number {
  const [index] = partsOf(after, ['number']);
  if (index < 0) throw notFromEarlierPage(after);
  return index;
}

function rowBody(definition: Definition, row: ShownRow, trials: readonly Trial[]): ExperimentRowBody {
  const digests = new Set(trials.map(({ output_digest }) => output_digest));
  const haveEnded = trials.length === definition.variants.length && trials.every(({ state }) => state === 'ended');
  return {
    index: row.position,
    ...(row.origin !== null && { origin: row.origin }),
    ...(row.input_shown !== null && { input: row.input_shown }),
    ...(row.expected_shown !== null && { expected: row.expected_shown }),
    changed: haveEnded && digests.size > 1,
    trials: trials.map((trial) => trialBody(definition, trial)),
  };
}

const trialBody = ({ variants, scorers }: Definition, trial: Trial): TrialBody => ({
  variant: variants[trial.variant]!.name,
  state: trial.state,
  correlation_id: trial.correlation_id,
  ...(trial.output_shown !== null && { output: trial.output_shown }),
  ...(trial.output_id !== null && { output_id: trial.output_id }),
  ...(trial.error !== null && { error: trial.error }),
  ...(trial.duration_ms !== null && { duration_ms: trial.duration_ms }),
  ...usageField(trial),
  scores: (JSON.parse(trial.scores ?? '[]') as Score[]).map((score, index) => scoreBody(scorers[index]!.name, score)),
});

const scoreBody = (scorer: string, { score, error, reason, artifact_id }: Score): TrialScoreBody => ({
  scorer,
  score,
  ...(error !== undefined && { error }),
  ...(reason !== undefined && { reason }),
  ...(artifact_id !== undefined && { artifact_id }),
});
