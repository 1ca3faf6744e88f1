import type { ReactNode } from 'react';

import { ChoiceField } from '../../components/fields';
import { Section } from '../../components/section';
import { CELL, ROW, Table } from '../../components/table';
import { numberText } from '../../formats';
import { type Scorer, scoreText, type Summary } from './experiment';

type Histogram = NonNullable<Summary['variants'][number]['scores'][number]['histogram']>;

export interface DistributionProps {
  summary: Summary;
  scorers: readonly Scorer[];
  scorer: Scorer;
  choose: (scorer: string) => void;
}

/** How often each variant has which score: a bar and a number for each step that any of them has. */
export function Distribution({ summary, scorers, scorer, choose }: DistributionProps): ReactNode {
  const histograms = summary.variants.map(({ scores }) => scores.find((one) => one.scorer === scorer.name)?.histogram);
  const steps = histograms.find((one) => one !== undefined)?.counts.length ?? 0;
  const countOf = (histogram: Histogram | undefined, step: number): number => histogram?.counts[step] ?? 0;
  const most = Math.max(1, ...histograms.flatMap((one) => one?.counts ?? []));
  const known = Array.from({ length: steps }, (_, step) => step).filter((step) =>
    histograms.some((one) => countOf(one, step) > 0),
  );
  return (
    <Section
      title="Distribution of a score"
      actions={
        <ChoiceField
          label="Scorer"
          value={scorer.name}
          choices={scorers.map(({ name }) => ({ value: name, text: name }))}
          onChange={choose}
        />
      }
    >
      {known.length === 0 ? (
        <p className="p-3 text-table text-muted">{scorer.name} has scored no row.</p>
      ) : (
        <Table
          label={`Distribution of ${scorer.name}`}
          columns={['Score', ...summary.variants.map(({ variant }) => variant)]}
          width="min-w-120"
        >
          {known.map((step) => (
            <tr key={step} className={ROW}>
              <td className={`${CELL} w-px whitespace-nowrap tabular-nums`}>
                {stepText(
                  histograms.find((one) => one !== undefined)!,
                  step,
                  scorer,
                )}
              </td>
              {histograms.map((histogram, index) => (
                <td key={summary.variants[index]!.variant} className={CELL}>
                  <Bar count={countOf(histogram, step)} most={most} />
                </td>
              ))}
            </tr>
          ))}
        </Table>
      )}
    </Section>
  );
}

function Bar({ count, most }: { count: number; most: number }): ReactNode {
  return (
    <span className="flex items-center gap-2">
      <span className="w-14 shrink-0 text-right tabular-nums">{numberText(count)}</span>
      <span className="h-3 rounded-sm bg-accent" style={{ width: `${(count / most) * 60}%` }} aria-hidden />
    </span>
  );
}

function stepText({ from, to, counts }: Histogram, step: number, scorer: Scorer): string {
  if (counts.length === 1) return scoreText(scorer, from);
  const at = (index: number): string => scoreText(scorer, from + ((to - from) / counts.length) * index);
  return `${at(step)} to ${at(step + 1)}`;
}
