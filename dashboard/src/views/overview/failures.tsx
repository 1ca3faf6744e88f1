import type { ReactNode } from 'react';

import { useApi } from '../../api/queries';
import { Place } from '../../components/place';
import { Failure, LoadingRows } from '../../components/states';
import { Ago } from '../../components/time';
import { AllOf, Panel } from './panel';

const PATH = '/api/v1/executions';

const ROWS = 4;

/** The newest failed executions, with their errors. */
export function Failures(): ReactNode {
  const { data, error, refetch } = useApi(
    PATH,
    { query: { state: 'failed', limit: 6 } },
    { live: ({ event_type }) => event_type === 'execution_failed', everyMs: 2_000 },
  );
  return (
    <Panel
      title="Newest failures"
      rows={ROWS}
      action={
        <span className="flex gap-3">
          <AllOf to="/executions" search={{ view: 'failures' }} text="In groups" />
          <AllOf to="/executions" search={{ state: 'failed' }} />
        </span>
      }
    >
      {data !== undefined ? null : error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <LoadingRows count={ROWS} />
      )}
      {data?.items.length === 0 && <p className="p-3 text-table text-muted">No execution has failed.</p>}
      <ul>
        {data?.items.map(({ id, agent, correlation_id, ended_at, error_type, error_message }) => (
          <li key={id} className="border-b border-line px-3 py-2 text-table last:border-b-0">
            <span className="flex items-center justify-between gap-2">
              <Place to="/correlations/$id" params={{ id: correlation_id }} search={{ selected: id }}>
                {agent}
              </Place>
              {ended_at !== null && (
                <span className="text-muted">
                  <Ago at={ended_at} />
                </span>
              )}
            </span>
            <span className="line-clamp-2 text-label">
              <span className="text-failed">{error_type}</span>: {error_message}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
