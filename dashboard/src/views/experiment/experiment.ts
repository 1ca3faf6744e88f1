import type { Schemas } from '../../api/requests';
import { costText, durationText, numberText } from '../../formats';

export type Experiment = Schemas['ExperimentBody'];
export type Summary = Schemas['ExperimentSummaryBody'];
export type Trial = Schemas['TrialBody'];
export type Scorer = Schemas['ExperimentScorer'];

export const EXPERIMENT_PATH = '/api/v1/experiments/{experiment_id}';

/** A score, or a difference of two, in the unit of its scorer. */
export function scoreText({ kind }: Pick<Scorer, 'kind'>, score: number): string {
  const sign = score < 0 ? '-' : '';
  if (kind === 'latency') return sign + durationText(Math.abs(score));
  return kind === 'cost' ? costText(score) : numberText(score);
}

/** A difference with its sign. */
export const differenceText = (scorer: Pick<Scorer, 'kind'>, difference: number): string =>
  (difference > 0 ? '+' : '') + scoreText(scorer, difference);

/** 0.012, or "below 0.001" */
export const probabilityText = (value: number): string => (value < 0.001 ? 'below 0.001' : numberText(value));
