import type { ReactNode } from 'react';

import { useAgents } from '../api/catalog';
import { useMetrics } from '../api/metrics';
import { useApi } from '../api/queries';
import { CurlButton } from '../components/copy';
import { Page } from '../components/page';
import { Place } from '../components/place';
import { countText } from '../formats';
import { AgentActivity } from './overview/agent-activity';
import { Failures } from './overview/failures';
import { NewestCorrelations } from './overview/newest-correlations';
import { Processes } from './overview/processes';
import { type TileProps, Tiles } from './overview/tiles';

export default function Overview(): ReactNode {
  return (
    <Page title="Overview" about={<Health />} actions={<CurlButton request={{ path: '/metrics' }} />}>
      <Counts />
      <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
        <div className="flex min-w-0 flex-col gap-4">
          <AgentActivity />
          <NewestCorrelations />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Failures />
          <Processes />
        </div>
      </div>
    </Page>
  );
}

/** The service answers while its database does; the tiles say what waits. */
function Health(): ReactNode {
  const { data, error } = useApi('/health', undefined, { pollMs: 10_000 });
  if (error) return <span className="text-failed">The service reports a fault: {error.message}</span>;
  if (data === undefined) return 'What runs, what waits, and what failed';
  const down = Object.entries(data.details).filter(([, { status }]) => status !== 'up');
  if (down.length === 0) return 'The service and its database are up';
  return <span className="text-failed">{down.map(([name]) => name).join(', ')} down</span>;
}

/** What is in flight, and what waits for what. */
function Counts(): ReactNode {
  const samples = useMetrics();
  const agents = useAgents();
  const { data } = useApi('/api/v1/processes', undefined, {
    live: ({ event_type }) => event_type !== 'execution_output',
    everyMs: 2_000,
    pollMs: 10_000,
  });
  const sum = (name: string, labels: Record<string, string> = {}): number | undefined =>
    samples
      ?.filter(
        (sample) =>
          sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
      )
      .reduce((total, { value }) => total + value, 0);
  const running = data?.processes
    .flatMap((process) => Object.values(process.running))
    .reduce((total, count) => total + count, 0);
  const people = sum('starling_external_executions');
  const paused = agents.filter((agent) => agent.paused);
  const tiles: TileProps[] = [
    { state: 'running', title: 'Running', count: running, to: '/executions', search: { state: 'running' } },
    {
      state: 'pending',
      title: 'Pending',
      count: sum('starling_queue_depth'),
      to: '/executions',
      search: { state: 'pending' },
    },
    { state: 'waiting', title: 'In joins', count: sum('starling_waiting_arrivals'), to: '/waiting' },
    { state: 'waiting', title: 'For people', count: people, to: '/inbox' },
    {
      state: 'waiting',
      title: 'Without an agent',
      count: sum('starling_executions_without_agent'),
      to: '/executions',
      search: { without_agent: 'true' },
    },
    { state: 'pending', title: 'Deliveries', count: sum('starling_deliveries'), to: '/deliveries' },
  ];
  return (
    <>
      <Tiles tiles={tiles} />
      {paused.length > 0 && (
        <p className="text-table">
          <span className="text-paused">{countText(paused.length, 'agent')} paused:</span>{' '}
          {paused.map(({ name }, index) => (
            <span key={name}>
              {index > 0 && ', '}
              <Place to="/agents/$name" params={{ name }} className="link underline">
                {name}
              </Place>
            </span>
          ))}
        </p>
      )}
    </>
  );
}
