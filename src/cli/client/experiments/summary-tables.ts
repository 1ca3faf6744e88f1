import type { ExperimentBody } from '../../../features/experiments/dto/experiment-body.js';
import type {
  ScoreSummaryBody,
  VariantComparisonBody,
  VariantSummaryBody,
} from '../../../features/experiments/dto/experiment-summary.js';
import type { Field, Output } from '../printing/output.js';
import type { Column } from '../printing/table.js';
import { count } from '../printing/texts.js';

export const headOf = ({ experiment_id, name, state, error, usage, ...counts }: ExperimentBody): Field[] => [
  ['experiment', experiment_id],
  ['name', name ?? null],
  ['state', error === undefined ? state : `${state}: ${error}`],
  ['rows', count(counts.rows)],
  ['done', `${count(counts.ended_trials)} of ${count(counts.total_trials)}, ${count(counts.failed_trials)} failed`],
  ['tokens', usage ? count(usage.input_tokens + usage.output_tokens) : null],
  ['cost', usage?.cost ?? null],
];

/** Prints what an experiment found: the scores of each variant, and each variant compared with the first one. */
export async function printSummary(output: Output, experiment: ExperimentBody): Promise<void> {
  if (!output.isForPeople) return output.json(experiment);
  await output.thing(experiment, () => headOf(experiment));
  const { summary } = experiment;
  if (!summary) return;
  const scores = summary.variants.flatMap((variant) =>
    variant.scores.map((score): VariantScore => ({ variant, score })),
  );
  await output.lines(['']);
  await output.table(scores, SCORES);
  if (summary.comparisons.length === 0) return;
  await output.lines(['', `Compared with ${summary.baseline}, row by row:`]);
  await output.table(summary.comparisons, COMPARISONS);
}

interface VariantScore {
  variant: VariantSummaryBody;
  score: ScoreSummaryBody;
}

const SCORES: Column<VariantScore>[] = [
  { title: 'VARIANT', of: ({ variant }) => variant.variant, style: () => 'bold', most: 30 },
  { title: 'SCORER', of: ({ score }) => score.scorer, most: 30 },
  { title: 'MEAN', of: ({ score }) => figure(score.mean), isRight: true },
  { title: 'MEDIAN', of: ({ score }) => figure(score.median), isRight: true },
  { title: 'P95', of: ({ score }) => figure(score.p95), isRight: true },
  { title: 'SCORED', of: ({ score }) => count(score.count), isRight: true },
  { title: 'ERRORS', of: ({ score }) => count(score.errors), isRight: true },
  { title: 'CHANGED', of: ({ variant }) => count(variant.changed_rows), isRight: true },
  { title: 'COST', of: ({ variant }) => figure(variant.usage?.cost ?? null), isRight: true },
];

const COMPARISONS: Column<VariantComparisonBody>[] = [
  { title: 'VARIANT', of: ({ variant }) => variant, style: () => 'bold', most: 30 },
  { title: 'SCORER', of: ({ scorer }) => scorer, most: 30 },
  { title: 'DIFFERENCE', of: ({ difference }) => figure(difference), isRight: true },
  { title: '95 % INTERVAL', of: ({ interval }) => interval && interval.map(figure).join(' to '), isRight: true },
  { title: 'WINS', of: ({ wins }) => count(wins), isRight: true },
  { title: 'LOSSES', of: ({ losses }) => count(losses), isRight: true },
  { title: 'P', of: ({ p_value }) => figure(p_value), isRight: true },
  { title: 'TEST', of: ({ test }) => test ?? null },
  {
    title: 'VERDICT',
    of: ({ verdict }) => verdict,
    style: ({ verdict }) => (verdict === 'better' ? 'green' : verdict === 'worse' ? 'red' : 'dim'),
  },
];

const SMALLEST = 0.0001;
const DIGITS = 4;

/** Four digits after the point, or four significant ones of a small number. */
function figure(value: number | null): string | null {
  if (value === null) return null;
  const isSmall = value !== 0 && Math.abs(value) < SMALLEST;
  return isSmall ? value.toPrecision(DIGITS) : String(Number(value.toFixed(DIGITS)));
}
