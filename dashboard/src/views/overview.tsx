import type { ReactNode } from 'react';

import { useMetrics } from '../api/metrics';
import { useApi } from '../api/queries';
import { CurlButton } from '../components/copy';
import { Page } from '../components/page';
import { AgentActivity } from './overview/agent-activity';
import { Backlog } from './overview/backlog';
import { Counts } from './overview/counts';
import { Failures } from './overview/failures';
import { NewestCorrelations } from './overview/newest-correlations';
import { Processes, useProcesses } from './overview/processes';

export default function Overview(): ReactNode {
  // Each is asked for once, although several panels show it.
  const metrics = useMetrics();
  const processes = useProcesses();
  return (
    <Page title="Overview" about={<Health />} actions={<CurlButton request={{ path: '/metrics' }} />}>
      <Counts samples={metrics.data} processes={processes.data} />
      <div className="grid grid-cols-1 items-start gap-4 xl:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]">
        <div className="flex min-w-0 flex-col gap-4">
          <AgentActivity />
          <NewestCorrelations />
        </div>
        <div className="flex min-w-0 flex-col gap-4">
          <Failures />
          <Backlog metrics={metrics} />
          <Processes answer={processes} />
        </div>
      </div>
    </Page>
  );
}

/** The service answers while its database does; the tiles say what waits. */
function Health(): ReactNode {
  const { data, error } = useApi('/health', undefined, { pollMs: 30_000 });
  if (error) return <span className="text-failed">The service reports a fault: {error.message}</span>;
  if (data === undefined) return 'What runs, what waits, and what failed';
  const down = Object.entries(data.details).filter(([, { status }]) => status !== 'up');
  if (down.length === 0) return 'The service and its database are up';
  return <span className="text-failed">{down.map(([name]) => name).join(', ')} down</span>;
}
