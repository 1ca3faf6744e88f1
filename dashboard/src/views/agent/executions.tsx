import type { ReactNode } from 'react';

import { useApi } from '../../api/queries';
import type { Schemas } from '../../api/requests';
import { IdChip } from '../../components/copy';
import { Place } from '../../components/place';
import { Section } from '../../components/section';
import { StateBadge } from '../../components/state-badge';
import { Failure, LoadingRows } from '../../components/states';
import { Ago, Duration } from '../../components/time';

const SHOWN = 10;

export interface ExecutionsProps {
  agent: string;
  /** Only executions in this state. */
  state?: 'failed';
}

/** The newest executions of an agent. */
export function Executions({ agent, state }: ExecutionsProps): ReactNode {
  const query = { agent, state, limit: SHOWN };
  const { data, error, refetch } = useApi(
    '/api/v1/executions',
    { query },
    {
      live: (event) =>
        event.event_type.startsWith('execution_') && event.event_type !== 'execution_output' && isOf(event, agent),
      everyMs: 2_000,
    },
  );
  const body = (): ReactNode => {
    if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
    if (!data) return <LoadingRows count={3} />;
    if (data.items.length === 0)
      return (
        <p className="p-3 text-table text-muted">
          {state === undefined ? 'It has not run yet. Run it with an input, or publish one.' : 'None has failed.'}
        </p>
      );
    return (
      <ul>
        {data.items.map((execution) => (
          <Row key={execution.id} execution={execution} />
        ))}
      </ul>
    );
  };
  return (
    <Section
      title={state === undefined ? 'Newest executions' : 'Newest failures'}
      actions={
        data?.pagination.has_more && (
          <Place to="/executions" search={{ agent, state }} className="link text-label">
            See all
          </Place>
        )
      }
    >
      {body()}
    </Section>
  );
}

const isOf = (event: object, agent: string): boolean => 'agent' in event && event.agent === agent;

function Row({ execution }: { execution: Schemas['ListedExecutionBody'] }): ReactNode {
  const { id, state, correlation_id, created_at, started_at, ended_at, error_message } = execution;
  return (
    <li className="border-b border-line px-3 py-2 text-table last:border-b-0">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        <span className="flex w-24">
          <StateBadge state={state} />
        </span>
        <IdChip
          id={id}
          what="execution"
          to={{ to: '/correlations/$id', params: { id: correlation_id }, search: { selected: id } }}
        />
        <span className="ml-auto flex gap-x-4 text-muted">
          {started_at !== null && <Duration from={started_at} to={ended_at} />}
          <Ago at={created_at} />
        </span>
      </div>
      {error_message !== null && <p className="pt-1 text-failed">{error_message}</p>}
    </li>
  );
}
