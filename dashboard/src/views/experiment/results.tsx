import type { ReactNode } from 'react';

import { Icon } from '../../components/icon';
import { JsonLine } from '../../components/json-line';
import { Section } from '../../components/section';
import { CELL, ROW, Table } from '../../components/table';
import { costText, numberText } from '../../formats';
import { differenceText, type Experiment, probabilityText, type Scorer, scoreText, type Summary } from './experiment';

type Variant = Experiment['definition']['variants'][number];
type Comparison = Summary['comparisons'][number];

const NUMBER = `${CELL} text-right whitespace-nowrap tabular-nums`;

const VARIANT_COLUMNS = ['Variant', 'Changes', 'Rows', 'Without an output', 'Changed outputs', 'Tokens', 'Cost'];
const SCORE_COLUMNS = ['Scorer', 'Variant', 'Scored', 'Failed', 'Mean', 'Median', '95th percentile'];
const COMPARISON_COLUMNS = [
  'Scorer',
  'Variant',
  'Verdict',
  'Difference',
  '95 % interval',
  'Wins',
  'Losses',
  'Ties',
  'p-value',
];

/** The summary: each variant, its scores, and its comparison with the first one. */
export function Results({ experiment, summary }: { experiment: Experiment; summary: Summary }): ReactNode {
  const { scorers, variants } = experiment.definition;
  return (
    <>
      <Section title={`Compared with the variant ${summary.baseline}, row by row`}>
        <Table label="Comparison" columns={COMPARISON_COLUMNS} numbers={6} width="min-w-220">
          {scorers.flatMap((scorer) =>
            summary.comparisons
              .filter((one) => one.scorer === scorer.name)
              .map((one) => <ComparisonRow key={`${scorer.name} ${one.variant}`} scorer={scorer} comparison={one} />),
          )}
        </Table>
        <p className="border-t border-line px-3 py-2 text-label text-muted">
          Better or worse: such a difference would come by chance in fewer than one of twenty experiments.
        </p>
      </Section>
      <Section title="Scores">
        <Table label="Scores" columns={SCORE_COLUMNS} numbers={5} width="min-w-180">
          {scorers.flatMap((scorer) =>
            summary.variants.map(({ variant, scores }) => (
              <ScoreRow key={`${scorer.name} ${variant}`} scorer={scorer} variant={variant} scores={scores} />
            )),
          )}
        </Table>
      </Section>
      <Section title="Variants">
        <Table label="Variants" columns={VARIANT_COLUMNS} numbers={5} width="min-w-200">
          {summary.variants.map(({ variant, trials, failed_trials, changed_rows, usage }, index) => (
            <tr key={variant} className={ROW}>
              <td className={CELL}>{variant}</td>
              <td className={CELL}>
                <Changes variant={variants[index]!} />
              </td>
              <td className={NUMBER}>{numberText(trials)}</td>
              <td className={`${NUMBER} ${failed_trials > 0 ? 'text-failed' : ''}`}>{numberText(failed_trials)}</td>
              <td className={NUMBER}>{variant === summary.baseline ? NONE : numberText(changed_rows)}</td>
              <td className={NUMBER}>{usage ? numberText(usage.input_tokens + usage.output_tokens) : NONE}</td>
              <td className={NUMBER}>{usage?.cost === undefined ? NONE : costText(usage.cost)}</td>
            </tr>
          ))}
        </Table>
      </Section>
    </>
  );
}

const NONE = <span className="text-muted">–</span>;

/** The differences of a variant from the configuration. */
function Changes({ variant: { name: _, ...changes } }: { variant: Variant }): ReactNode {
  return Object.keys(changes).length === 0 ? NONE : <JsonLine value={changes} />;
}

const TESTS: Record<NonNullable<Comparison['test']>, string> = {
  mcnemar_exact: 'exact McNemar test',
  permutation_exact: 'exact permutation test',
  permutation: 'permutation test',
};

function ComparisonRow({ scorer, comparison }: { scorer: Scorer; comparison: Comparison }): ReactNode {
  const { variant, verdict, difference, interval, wins, losses, ties, p_value, test } = comparison;
  return (
    <tr className={ROW}>
      <td className={CELL}>{scorer.name}</td>
      <td className={CELL}>{variant}</td>
      <td className={CELL}>
        <Verdict verdict={verdict} />
      </td>
      <td className={NUMBER}>{difference === null ? NONE : differenceText(scorer, difference)}</td>
      <td className={NUMBER}>
        {interval === null ? NONE : interval.map((end) => differenceText(scorer, end)).join(' to ')}
      </td>
      <td className={NUMBER}>{numberText(wins)}</td>
      <td className={NUMBER}>{numberText(losses)}</td>
      <td className={NUMBER}>{numberText(ties)}</td>
      <td className={NUMBER}>
        {p_value === null ? (
          NONE
        ) : (
          <>
            {probabilityText(p_value)}
            {test && <span className="block text-label text-muted">{TESTS[test]}</span>}
          </>
        )}
      </td>
    </tr>
  );
}

const VERDICTS = {
  better: { icon: 'check', colour: 'text-completed' },
  worse: { icon: 'cross', colour: 'text-failed' },
  undecided: { icon: 'dot', colour: 'text-idle' },
} as const;

function Verdict({ verdict }: Pick<Comparison, 'verdict'>): ReactNode {
  const { icon, colour } = VERDICTS[verdict];
  return (
    <span className={`inline-flex items-center gap-1.5 whitespace-nowrap ${colour}`}>
      <Icon name={icon} />
      {verdict}
    </span>
  );
}

interface ScoreRowProps {
  scorer: Scorer;
  variant: string;
  scores: Summary['variants'][number]['scores'];
}

function ScoreRow({ scorer, variant, scores }: ScoreRowProps): ReactNode {
  const own = scores.find((one) => one.scorer === scorer.name);
  if (own === undefined) return null;
  const figure = (value: number | null): ReactNode => (value === null ? NONE : scoreText(scorer, value));
  return (
    <tr className={ROW}>
      <td className={CELL}>{scorer.name}</td>
      <td className={CELL}>{variant}</td>
      <td className={NUMBER}>{numberText(own.count)}</td>
      <td className={`${NUMBER} ${own.errors > 0 ? 'text-failed' : ''}`}>{numberText(own.errors)}</td>
      <td className={NUMBER}>{figure(own.mean)}</td>
      <td className={NUMBER}>{figure(own.median)}</td>
      <td className={NUMBER}>{figure(own.p95)}</td>
    </tr>
  );
}
