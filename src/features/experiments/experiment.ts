import { DomainError } from '../../common/domain-error.js';
import { exceeds } from '../../common/rounded-sum.js';
import { shown } from '../../common/short-text.js';
import { toTimestamp } from '../../common/timestamp.js';
import { usageField } from '../../http/dto/usage-body.js';
import type { Definition } from './definition.js';
import type { ExperimentBody, ListedExperimentBody } from './dto/experiment-body.js';
import type { Experiment, ShownState, WholeExperiment } from './experiments.repository.js';
import type { Summary } from './summary.js';

export const experimentNotFound = (id: string): DomainError =>
  new DomainError('not_found', `Experiment not found: ${shown(id)}`);

export const definitionOf = ({ definition }: Pick<WholeExperiment, 'definition'>): Definition =>
  JSON.parse(definition) as Definition;

/** Whether ended trials have used as much as the experiment may use. */
export function usedUp({ max_cost, max_tokens, cost, input_tokens, output_tokens }: Experiment): string | null {
  if (max_cost !== null && !exceeds(max_cost, cost ?? 0)) return `max_cost (${max_cost}) is used up`;
  if (max_tokens !== null && input_tokens + output_tokens >= max_tokens) return `max_tokens (${max_tokens}) is used up`;
  return null;
}

/** Whether more trials may begin and end: it was not cancelled. */
export const goesOn = ({ state, ended_at }: Pick<Experiment, 'state' | 'ended_at'>): boolean =>
  state === 'running' && ended_at === null;

export const totalOf = ({ row_count, variants }: Experiment): number => row_count * variants;

export const listedBody = (experiment: Experiment): ListedExperimentBody => {
  const total = totalOf(experiment);
  const { id, name, ended_trials, error, ended_at } = experiment;
  return {
    experiment_id: id,
    ...(name !== null && { name }),
    state: experiment.state as ShownState,
    rows: experiment.row_count,
    variants: JSON.parse(experiment.variant_names) as string[],
    total_trials: total,
    ended_trials,
    failed_trials: experiment.failed_trials,
    progress_percentage: Math.floor((10_000 * ended_trials) / Math.max(total, 1)) / 100,
    created_at: toTimestamp(experiment.created_at),
    ...(experiment.state !== 'running' && ended_at !== null && { ended_at: toTimestamp(ended_at) }),
    ...(error !== null && { error }),
    ...usageField(experiment),
  };
};

export const experimentBody = (experiment: WholeExperiment): ExperimentBody => {
  const { data, expected, ...rest } = definitionOf(experiment);
  const { max_workers, max_cost, max_tokens, summary } = experiment;
  return {
    ...listedBody(experiment),
    definition: {
      data,
      ...(expected && { expected }),
      output: rest.output,
      mode: rest.mode,
      variants: [...rest.variants],
      scorers: [...rest.scorers],
      seed: rest.seed,
      max_workers,
      ...(max_cost !== null && { max_cost }),
      ...(max_tokens !== null && { max_tokens }),
    },
    ...(summary !== null && { summary: JSON.parse(summary) as Summary }),
  };
};
