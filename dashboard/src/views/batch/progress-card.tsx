import { type ReactNode, useState } from 'react';

import { Facts } from '../../components/facts';
import { Progress } from '../../components/progress';
import { StateBadge } from '../../components/state-badge';
import { Duration, Time } from '../../components/time';
import { useNow } from '../../components/use-now';
import { costText, countText, durationText, numberText } from '../../formats';
import { type Batch, isOpen } from './batch';

/** How far the batch is, and how fast. */
export function ProgressCard({ batch }: { batch: Batch }): ReactNode {
  const { status, completed_items: ended, failed_items: failed, total_items: total } = batch;
  const { started_at, completed_at, waiting_for_agents: lacking = [], usage } = batch;
  const runs = isOpen(batch) && started_at !== undefined;
  return (
    <div className="card flex flex-col gap-3 p-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-table">
        <StateBadge state={status} />
        <span className="tabular-nums">
          {numberText(ended)} of {countText(total, 'item')}
        </span>
        {failed > 0 && <span className="text-failed">{numberText(failed)} failed</span>}
      </div>
      <Progress label="Progress" {...{ ended, failed, total }} />
      <Facts
        facts={[
          ['Started', started_at === undefined ? null : <Time at={started_at} />],
          ['Duration', started_at === undefined ? null : <Duration from={started_at} to={completed_at} />],
          ['Rate', runs ? <Rate batch={batch} startedAt={started_at} /> : null],
          ['Waits for', lacking.length > 0 ? `a process that has ${lacking.join(', ')}` : null],
          ['Error', batch.error ?? null],
          ['Tokens', usage ? countText(usage.input_tokens + usage.output_tokens, 'token') : null],
          ['Cost', usage?.cost === undefined ? null : costText(usage.cost)],
        ]}
      />
    </div>
  );
}

/** Before the view has watched the batch for this time, the rate is that since its start. */
const WATCHED_MS = 5_000;

/**
 * How many items end in a second, and when the rest will have ended at that rate. It is measured from when the view was
 * opened, because a batch may have been retried long after its start.
 */
function Rate({ batch, startedAt }: { batch: Batch; startedAt: string }): ReactNode {
  const { completed_items: ended, total_items: total } = batch;
  const now = useNow();
  const [begin, setBegin] = useState({ at: now, ended });
  // A retry begins.
  if (ended < begin.ended) setBegin({ at: now, ended });
  const isWatched = now - begin.at >= WATCHED_MS && ended > begin.ended;
  const from = isWatched ? begin : { at: Date.parse(startedAt), ended: 0 };
  if (ended === from.ended) return 'no item has ended yet';
  const perSecond = (ended - from.ended) / (Math.max(1_000, now - from.at) / 1_000);
  return `${rateText(perSecond)}, about ${durationText(((total - ended) / perSecond) * 1_000)} left`;
}

/** "12 items per second", "4.2 items per minute" */
function rateText(perSecond: number): string {
  const [rate, unit] = perSecond >= 1 ? [perSecond, 'second'] : [perSecond * 60, 'minute'];
  return `${numberText(Number(rate.toPrecision(rate < 10 ? 2 : 3)))} items per ${unit}`;
}
