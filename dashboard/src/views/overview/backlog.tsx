import type { ReactNode } from 'react';

import type { MetricName, useMetrics } from '../../api/metrics';
import { FailureLine } from '../../components/states';
import { numberText } from '../../formats';
import { Panel } from './panel';
import { sumOf } from './sums';

interface Limit {
  title: string;
  metric: MetricName;
  setting: string;
  /** Says what happens when it is reached. */
  whenFull: string;
}

const REFUSED = 'Publishes are refused until some of it has ended.';

const LIMITS: Limit[] = [
  {
    title: 'Waiting executions',
    metric: 'starling_queue_depth',
    setting: 'max_pending_executions',
    whenFull: REFUSED,
  },
  {
    title: 'Waiting artifacts',
    metric: 'starling_waiting_arrivals',
    setting: 'max_waiting_arrivals',
    whenFull: 'Publishes that would add to it are refused. Those that complete a join or a window are accepted.',
  },
  {
    title: 'Executions without an agent',
    metric: 'starling_executions_without_agent',
    setting: 'max_executions_without_agent',
    whenFull: REFUSED,
  },
];

/** The share of a limit from which it is a warning. */
const NEARLY_FULL = 0.8;

/** Shows how much work waits, compared with the limits of the service. */
export function Backlog({ metrics }: { metrics: ReturnType<typeof useMetrics> }): ReactNode {
  const { data: samples, error, refetch } = metrics;
  return (
    <Panel title="Backlog">
      {error && samples === undefined && <FailureLine error={error} retry={() => void refetch()} />}
      <ul>
        {LIMITS.map((of) => (
          <Meter
            key={of.setting}
            {...of}
            count={sumOf(samples, of.metric)}
            limit={sumOf(samples, 'starling_limit', { setting: of.setting })}
          />
        ))}
      </ul>
    </Panel>
  );
}

interface MeterProps extends Limit {
  count: number | undefined;
  limit: number | undefined;
}

function Meter({ title, setting, whenFull, count = 0, limit }: MeterProps): ReactNode {
  const share = limit === undefined ? 0 : Math.min(1, count / Math.max(1, limit));
  const colour = share >= 1 ? 'bg-failed' : share >= NEARLY_FULL ? 'bg-waiting' : 'bg-running';
  return (
    <li className="flex flex-col gap-1 border-b border-line px-3 py-2 text-table last:border-b-0">
      <span className="flex items-baseline justify-between gap-2">
        <span>{title}</span>
        <span className="text-muted tabular-nums" title={setting}>
          {limit === undefined ? '–' : `${numberText(count)} of ${numberText(limit)}`}
        </span>
      </span>
      <div
        role="meter"
        aria-label={title}
        aria-valuemin={0}
        aria-valuemax={limit ?? 0}
        aria-valuenow={Math.min(count, limit ?? 0)}
        className="flex h-1.5 overflow-hidden rounded-full bg-raised"
      >
        <div className={colour} style={{ width: `${share * 100}%` }} />
      </div>
      {share >= 1 && <span className="text-label text-failed">{whenFull}</span>}
    </li>
  );
}
