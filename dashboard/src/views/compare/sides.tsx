import type { ReactNode } from 'react';

import { IdChip } from '../../components/copy';
import { type Fact, Facts } from '../../components/facts';
import { Section } from '../../components/section';
import { StateBadge } from '../../components/state-badge';
import { Time } from '../../components/time';
import { costText, countText, durationText, numberText } from '../../formats';
import type { ComparedCorrelation } from './comparison';

export interface SidesProps {
  left: ComparedCorrelation;
  right: ComparedCorrelation;
}

/** Shows each correlation as a whole. */
export function Sides({ left, right }: SidesProps): ReactNode {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      <Side title="Left" correlation={left} />
      <Side title="Right" correlation={right} />
    </div>
  );
}

function Side({ title, correlation }: { title: string; correlation: ComparedCorrelation }): ReactNode {
  const { correlation_id: id, state, truncated } = correlation;
  return (
    <Section title={title} actions={<StateBadge state={state} />}>
      <div className="flex flex-col gap-2 p-3">
        <Facts
          facts={[
            ['Correlation', <IdChip id={id} what="correlation" to={{ to: '/correlations/$id', params: { id } }} />],
            ...factsOf(correlation),
          ]}
        />
        {truncated && (
          <p className="text-table text-muted">It has more artifacts than are compared: only the first are.</p>
        )}
      </div>
    </Section>
  );
}

const factsOf = ({ artifact_count, error_count, started_at, duration_ms, usage }: ComparedCorrelation): Fact[] => [
  ['Artifacts', `${countText(artifact_count, 'artifact')}, ${countText(error_count, 'error')}`],
  ['Started', <Time at={started_at} />],
  ['Took', duration_ms === null ? 'not settled yet' : durationText(duration_ms)],
  ['Tokens', usage ? numberText(usage.input_tokens + usage.output_tokens) : null],
  ['Cost', usage?.cost === undefined ? null : costText(usage.cost)],
];
