import type { ReactNode } from 'react';

import { useAgents } from '../../api/catalog';
import type { Sample } from '../../api/metrics';
import { useApi } from '../../api/queries';
import type { Schemas } from '../../api/requests';
import { Place } from '../../components/place';
import { countText } from '../../formats';
import { sumOf } from './sums';
import { type TileProps, Tiles } from './tiles';

/** Undefined until they are read. */
export interface CountsProps {
  samples: readonly Sample[] | undefined;
  processes: Schemas['ProcessesBody'] | undefined;
}

/** Shows how much work runs, and how much waits for each reason. */
export function Counts({ samples, processes }: CountsProps): ReactNode {
  const inProcesses = processes?.processes
    .flatMap((process) => Object.values(process.running))
    .reduce((total, count) => total + count, 0);
  const claimed = sumOf(samples, 'starling_external_executions', { state: 'claimed' });
  const running = inProcesses === undefined || claimed === undefined ? undefined : inProcesses + claimed;
  const executions = (waits_for: string): number | undefined =>
    sumOf(samples, 'starling_waiting_executions', { waits_for });
  const artifacts = (waits_for: string): number | undefined =>
    sumOf(samples, 'starling_waiting_artifacts', { waits_for });
  const waiting = (waits_for: string): Pick<TileProps, 'count' | 'to' | 'search'> => ({
    count: executions(waits_for),
    to: '/executions',
    search: { waits_for },
  });
  const tiles: TileProps[] = [
    { state: 'running', title: 'Running', count: running, to: '/executions', search: { state: 'running' } },
    { state: 'pending', title: 'Queued', ...waiting('slot') },
    { state: 'retrying', title: 'Retrying', ...waiting('retry') },
    { state: 'waiting', title: 'For limits', ...waiting('limit') },
    { state: 'paused', title: 'Paused', ...waiting('resume') },
    { state: 'waiting', title: 'For people', count: sumOf(samples, 'starling_external_executions'), to: '/inbox' },
    { state: 'waiting', title: 'In joins', count: artifacts('join'), to: '/waiting' },
    { state: 'waiting', title: 'Hidden', count: artifacts('release') },
    {
      state: 'waiting',
      title: 'No agent',
      count: sumOf(samples, 'starling_executions_without_agent'),
      to: '/executions',
      search: { without_agent: 'true' },
    },
    { state: 'pending', title: 'Deliveries', count: sumOf(samples, 'starling_deliveries') },
  ];
  return (
    <>
      <Tiles tiles={tiles} />
      <div className="flex flex-col gap-1 empty:hidden">
        <PausedAgents />
        <FailingTargets />
      </div>
    </>
  );
}

function PausedAgents(): ReactNode {
  const paused = useAgents().filter((agent) => agent.paused);
  if (paused.length === 0) return null;
  return (
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
  );
}

const SHOWN_TARGETS = 3;

/** Webhook targets that do not answer. */
function FailingTargets(): ReactNode {
  const { data } = useApi(
    '/api/v1/webhooks/targets',
    { query: { failing: true, limit: SHOWN_TARGETS } },
    { pollMs: 30_000 },
  );
  if (data === undefined || data.items.length === 0) return null;
  return (
    <p className="text-table">
      <span className="text-failed">Webhooks fail:</span>{' '}
      {data.items.map(({ target_id, target_origin }, index) => (
        <span key={target_id}>
          {index > 0 && ', '}
          <Place to="/deliveries" search={{ target_id }} className="link underline">
            {target_origin}
          </Place>
        </span>
      ))}
      {data.pagination.has_more && (
        <>
          {' '}
          <Place to="/deliveries" search={{ view: 'targets', failing: 'true' }} className="link underline">
            and more
          </Place>
        </>
      )}
    </p>
  );
}
