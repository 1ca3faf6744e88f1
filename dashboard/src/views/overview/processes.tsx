import type { ReactNode } from 'react';

import { useApi } from '../../api/queries';
import { IdChip } from '../../components/copy';
import { FailureLine, LoadingRows } from '../../components/states';
import { Duration } from '../../components/time';
import { countText } from '../../formats';
import { Panel } from './panel';

/** Asks for the live processes, and what each of them runs. */
export const useProcesses = () =>
  useApi('/api/v1/processes', undefined, {
    live: ({ event_type }) => event_type !== 'execution_output',
    everyMs: 2_000,
    pollMs: 10_000,
  });

const replaysText = (configurations: readonly string[]): string =>
  configurations.length === 0 ? '' : `replays with ${configurations.join(', ')}, `;

/** The live processes that share the database. */
export function Processes({ answer }: { answer: ReturnType<typeof useProcesses> }): ReactNode {
  const { data, error, refetch } = answer;
  return (
    <Panel title="Processes">
      {data !== undefined ? null : error ? (
        <FailureLine error={error} retry={() => void refetch()} />
      ) : (
        <LoadingRows count={1} />
      )}
      <ul>
        {data?.processes.map(({ id, roles, version, agents, replay_configurations, started_at }) => (
          <li key={id} className="flex flex-col gap-0.5 border-b border-line px-3 py-2 text-table last:border-b-0">
            <span className="flex items-center justify-between gap-2">
              <span>{roles.join(' and ')}</span>
              <IdChip id={id} what="process" />
            </span>
            <span className="text-label text-muted">
              version {version}, {countText(agents.length, 'agent')}, {replaysText(Object.keys(replay_configurations))}
              up for <Duration from={started_at} />
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
