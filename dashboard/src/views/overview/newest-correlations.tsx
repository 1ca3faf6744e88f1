import type { ReactNode } from 'react';

import { useApi } from '../../api/queries';
import { IdChip } from '../../components/copy';
import { Place } from '../../components/place';
import { StateBadge } from '../../components/state-badge';
import { Failure, LoadingRows } from '../../components/states';
import { Ago, Duration } from '../../components/time';
import { countText } from '../../formats';
import { AllOf, Panel } from './panel';

/** The workflows that began last. */
export function NewestCorrelations(): ReactNode {
  const { data, error, refetch } = useApi(
    '/api/v1/correlations',
    { query: { limit: 8 } },
    {
      live: ({ event_type }) => event_type === 'artifact_published' || event_type === 'correlation_settled',
      everyMs: 2_000,
    },
  );
  return (
    <Panel title="Newest correlations" action={<AllOf to="/correlations" />}>
      {data !== undefined ? null : error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <LoadingRows count={8} />
      )}
      {data?.items.length === 0 && (
        <p className="p-3 text-table text-muted">
          Nothing has been published yet. <Place to="/publish">Publish an example</Place>
        </p>
      )}
      <ul>
        {data?.items.map(({ correlation_id: id, state, artifact_count, started_at, settled_at }) => (
          <li
            key={id}
            className="flex h-row items-center gap-3 border-b border-line px-3 text-table last:border-b-0 hover:bg-raised"
          >
            <span className="w-24 shrink-0">
              <StateBadge state={state} />
            </span>
            <span className="min-w-0 flex-1">
              <IdChip id={id} what="correlation" to={{ to: '/correlations/$id', params: { id } }} />
            </span>
            <span className="text-muted max-sm:hidden">{countText(artifact_count, 'artifact')}</span>
            <span className="w-20 text-right max-sm:hidden">
              <Duration from={started_at} to={settled_at} />
            </span>
            <span className="w-24 text-right text-muted">
              <Ago at={started_at} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
