import type { ReactNode } from 'react';

import { useApi } from '../../api/queries';
import { ArtifactList } from '../../components/artifact-list';
import { IdChip } from '../../components/copy';
import { Place } from '../../components/place';
import { Section } from '../../components/section';
import { StateBadge } from '../../components/state-badge';
import { Failure, LoadingRows } from '../../components/states';
import { countText } from '../../formats';
import type { LiveEvent } from '../../live/messages';

const SHOWN = 20;

export interface OutcomeProps {
  correlationId: string;
  /** The answer of the service, if it was asked to wait. */
  answer: string | undefined;
}

/** Shows the result of a publish: its correlation, live. */
export function Outcome({ correlationId, answer }: OutcomeProps): ReactNode {
  const live = (event: LiveEvent): boolean =>
    event.event_type !== 'execution_output' && event.correlation_id === correlationId;
  const query = { correlation_id: correlationId, order: 'asc', limit: SHOWN } as const;
  const path = { correlation_id: correlationId };
  const status = useApi('/api/v1/correlations/{correlation_id}/status', { path }, { live }).data;
  const { data, error, refetch } = useApi('/api/v1/artifacts', { query }, { live });
  const total = data?.pagination.total;
  const body = (): ReactNode => {
    if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
    if (!data) return <LoadingRows count={3} />;
    return (
      <div className="p-3">
        <ArtifactList artifacts={data.items} />
      </div>
    );
  };
  return (
    <Section title="What came of it" actions={status && <StateBadge state={status.state} />}>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line p-3 text-table">
        {answer !== undefined && <p>{answer}</p>}
        <IdChip id={correlationId} what="correlation" to={{ to: '/correlations/$id', params: { id: correlationId } }} />
        {total !== undefined && (
          <Place to="/artifacts" search={{ correlation_id: correlationId }}>
            {countText(total, 'artifact')} of this correlation
          </Place>
        )}
      </div>
      {body()}
    </Section>
  );
}
