import type { ReactNode } from 'react';

import { useApi } from '../../api/queries';
import type { Schemas } from '../../api/requests';
import { choice, useFilters } from '../../app/filters';
import { CurlButton } from '../../components/copy';
import { ChoiceField } from '../../components/fields';
import { Place } from '../../components/place';
import { StateBadge } from '../../components/state-badge';
import { FailureLine, LoadingRows } from '../../components/states';
import { TickTime } from './schedule-text';

const PATH = '/api/v1/schedules/{schedule_name}/ticks';

const EVERY_MS = 3_000;
const SHOWN = 20;

const STATES = ['', 'published', 'queued', 'skipped', 'failed'] as const;

/** The latest ticks of a schedule, with the reason of those that were missed. */
export function TickList({ name }: { name: string }): ReactNode {
  const { value, set } = useFilters({ ticks: choice(...STATES) });
  const params = { path: { schedule_name: name }, query: { state: value.ticks || undefined, limit: SHOWN } };
  const { data, error, refetch } = useApi(PATH, params, { pollMs: EVERY_MS });
  const body = (): ReactNode => {
    if (data === undefined)
      return error ? <FailureLine error={error} retry={() => void refetch()} /> : <LoadingRows count={3} />;
    if (data.ticks.length === 0)
      return <p className="text-table text-muted">{value.ticks === '' ? 'It has no tick yet.' : 'There is none.'}</p>;
    return (
      <ul aria-label="Latest ticks" className="flex flex-col">
        {data.ticks.map((tick) => (
          <TickItem key={tick.scheduled_for} tick={tick} />
        ))}
      </ul>
    );
  };
  return (
    <section>
      <div className="flex flex-wrap items-end justify-between gap-2 pb-1">
        <ChoiceField
          label="Latest ticks"
          value={value.ticks}
          choices={STATES.map((state) => ({ value: state, text: state === '' ? 'all' : state }))}
          onChange={(ticks) => set({ ticks })}
        />
        <CurlButton request={{ path: PATH, params }} />
      </div>
      {body()}
    </section>
  );
}

function TickItem({ tick }: { tick: Schemas['TickBody'] }): ReactNode {
  const { state, cause, reason, correlation_id } = tick;
  return (
    <li className="flex flex-wrap items-center gap-x-3 border-b border-line py-1 text-table last:border-b-0">
      <StateBadge state={state} />
      {correlation_id === null ? (
        <TickTime tick={tick} />
      ) : (
        <Place to="/correlations/$id" params={{ id: correlation_id }}>
          <TickTime tick={tick} />
        </Place>
      )}
      {cause !== 'time' && <span className="text-muted">{cause}</span>}
      {reason !== null && <span className="min-w-0 text-muted">{reason}</span>}
    </li>
  );
}
