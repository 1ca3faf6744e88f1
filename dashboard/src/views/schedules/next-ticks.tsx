import type { ReactNode } from 'react';

import { useApi } from '../../api/queries';
import { CurlButton } from '../../components/copy';
import { FailureLine, LoadingRows } from '../../components/states';
import { utcText } from '../../formats';

const PATH = '/api/v1/schedules/{schedule_name}/preview';

const EVERY_MS = 10_000;
const COUNT = 10;

/** The next ticks of a schedule, in its time zone and in UTC. A paused one has none of them until it is resumed. */
export function NextTicks({ name, isPaused }: { name: string; isPaused: boolean }): ReactNode {
  const title = isPaused ? 'Ticks if it is resumed' : 'Next ticks';
  const params = { path: { schedule_name: name }, query: { count: COUNT } };
  const { data, error, refetch } = useApi(PATH, params, { pollMs: EVERY_MS });
  const body = (): ReactNode => {
    if (data === undefined)
      return error ? <FailureLine error={error} retry={() => void refetch()} /> : <LoadingRows count={3} />;
    if (data.ticks.length === 0) return <p className="text-table text-muted">It has no further tick.</p>;
    return (
      <ul aria-label={title} className="font-mono text-label">
        {data.ticks.map(({ scheduled_for, local }) => (
          <li key={scheduled_for} className="flex flex-wrap gap-x-3">
            {local}
            <span className="text-muted">{utcText(new Date(scheduled_for)).replace('.000', '')}</span>
          </li>
        ))}
      </ul>
    );
  };
  return (
    <section>
      <div className="flex flex-wrap items-center justify-between gap-2 pb-1">
        <h3 className="text-label text-muted">{title}</h3>
        <CurlButton request={{ path: PATH, params }} />
      </div>
      {body()}
    </section>
  );
}
