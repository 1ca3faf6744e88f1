import type { ReactNode } from 'react';

import { Facts } from '../../components/facts';
import { Place } from '../../components/place';
import { Progress } from '../../components/progress';
import { StateBadge } from '../../components/state-badge';
import { Duration, Time } from '../../components/time';
import { costText, countText, listText, numberText } from '../../formats';
import type { Experiment } from './experiment';

/** How far the experiment is, and what it tries. */
export function ProgressCard({ experiment }: { experiment: Experiment }): ReactNode {
  const { state, ended_trials: ended, failed_trials: failed, total_trials: total, rows, usage } = experiment;
  const { created_at, ended_at, error, definition } = experiment;
  const { data, output, mode, variants } = definition;
  return (
    <div className="card flex flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-table">
        <StateBadge state={state} />
        <span className="tabular-nums">
          {numberText(ended)} of {countText(total, 'trial')}
        </span>
        {failed > 0 && <span className="text-failed">{numberText(failed)} without an output</span>}
      </div>
      <Progress label="Progress" {...{ ended, failed, total }} />
      <Facts
        facts={[
          ['Error', error === undefined ? null : <span className="text-failed">{error}</span>],
          ['Rows', <Rows count={rows} data={data} />],
          ['Variants', listText(variants.map(({ name }) => name))],
          ['Output', output],
          ['Mode', mode],
          ['Started', <Time at={created_at} />],
          ['Duration', <Duration from={created_at} to={ended_at} />],
          ['Tokens', usage ? countText(usage.input_tokens + usage.output_tokens, 'token') : null],
          ['Cost', usage?.cost === undefined ? null : costText(usage.cost)],
        ]}
      />
    </div>
  );
}

const SOURCES: Record<string, string> = {
  csv: 'of a CSV',
  artifacts: 'that are artifacts',
  correlations: 'that are correlations',
};

function Rows({ count, data }: { count: number; data: Experiment['definition']['data'] }): ReactNode {
  const { kind, batch } = data as { kind: string; batch?: string };
  return (
    <>
      {countText(count, 'row')}{' '}
      {batch === undefined ? (
        SOURCES[kind]
      ) : (
        <>
          of a{' '}
          <Place to="/batches/$id" params={{ id: batch }}>
            batch
          </Place>
        </>
      )}
    </>
  );
}
