import { type ReactNode, useState } from 'react';

import { useApi } from '../../api/queries';
import type { Schemas } from '../../api/requests';
import { choice, useFilters } from '../../app/filters';
import { Place } from '../../components/place';
import { Segments } from '../../components/segments';
import { Failure, LoadingRows } from '../../components/states';
import { durationText, numberText, shareText } from '../../formats';
import { Panel } from './panel';

/** The title and five agents. */
const ROWS = 6;

const WINDOWS = ['1h', '24h', '7d'] as const;

const READERS = { window: choice(...WINDOWS) };

/** Rates, failures and durations of each agent over a window. */
export function AgentActivity(): ReactNode {
  const { value, set } = useFilters(READERS);
  const { data, error, refetch } = useApi(
    '/api/v1/activity',
    { query: { window: value.window } },
    {
      live: ({ event_type }) => event_type.startsWith('execution_') && event_type !== 'execution_output',
      everyMs: 5_000,
      pollMs: 30_000,
    },
  );
  return (
    <Panel
      title="Agents"
      rows={ROWS}
      action={
        <Segments
          label="Window"
          value={value.window}
          choices={WINDOWS.map((window) => ({ value: window, text: window }))}
          onChange={(window) => set({ window })}
        />
      }
    >
      {data !== undefined ? null : error ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : (
        <LoadingRows count={ROWS} />
      )}
      {data?.agents.length === 0 && (
        <p className="p-3 text-table text-muted">
          No agent has run in this time. <Place to="/publish">Publish an example</Place>
        </p>
      )}
      {data !== undefined && data.agents.length > 0 && <Table agents={data.agents} />}
    </Panel>
  );
}

const MOST_ROWS = 12;

const WIDE = 'max-sm:hidden';

const COLUMNS = [
  { title: 'Ended', wide: false },
  { title: 'Failed', wide: false },
  { title: 'p50', wide: true },
  { title: 'p95', wide: false },
  { title: 'Queued p95', wide: true },
];

/** A service that has counted for a short time has few steps, whose bars are not wider for that. */
const FEWEST_BARS = 30;

function Table({ agents }: { agents: readonly Schemas['AgentActivityBody'][] }): ReactNode {
  const [isWhole, setIsWhole] = useState(false);
  const sorted = [...agents].sort((one, other) => other.failures - one.failures || other.ends - one.ends);
  const shown = isWhole ? sorted : sorted.slice(0, MOST_ROWS);
  return (
    <div className="overflow-x-auto" role="group" aria-label="Activity of each agent" tabIndex={0}>
      <table className="w-full text-table">
        <thead>
          <tr className="h-8 border-b border-line text-left text-label text-muted">
            <th scope="col" className="px-2 sm:px-3 font-normal">
              Agent
            </th>
            <th scope="col" className="w-40 px-2 sm:px-3 font-normal max-sm:hidden">
              Executions over time
            </th>
            {COLUMNS.map(({ title, wide }) => (
              <th
                key={title}
                scope="col"
                className={`px-2 sm:px-3 text-right font-normal whitespace-nowrap ${wide ? WIDE : ''}`}
              >
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <AgentRow key={row.agent} row={row} />
          ))}
        </tbody>
      </table>
      {sorted.length > shown.length && (
        <button type="button" className="link m-2 h-7 px-1 text-table" onClick={() => setIsWhole(true)}>
          Show all {sorted.length} agents
        </button>
      )}
    </div>
  );
}

function AgentRow({
  row: { agent, ends, failures, duration_ms, queue_ms, steps },
}: {
  row: Schemas['AgentActivityBody'];
}): ReactNode {
  const time = (ms: number | undefined): string => (ms === undefined ? '–' : durationText(ms));
  return (
    <tr className="h-row border-b border-line whitespace-nowrap last:border-b-0 hover:bg-raised">
      <th scope="row" className="px-2 sm:px-3 text-left font-normal">
        <Place to="/agents/$name" params={{ name: agent }}>
          {agent}
        </Place>
      </th>
      <td className="px-2 sm:px-3 max-sm:hidden">
        <Bars steps={steps} />
      </td>
      <td className="px-2 sm:px-3 text-right">{numberText(ends)}</td>
      <td className={`px-2 sm:px-3 text-right ${failures > 0 ? 'text-failed' : 'text-muted'}`}>
        {failures > 0 ? `${numberText(failures)} (${shareText(failures / Math.max(1, ends))})` : '0'}
      </td>
      <td className={`px-2 sm:px-3 text-right ${WIDE}`}>{time(duration_ms?.p50)}</td>
      <td className="px-2 sm:px-3 text-right">{time(duration_ms?.p95)}</td>
      <td className={`px-2 sm:px-3 text-right ${WIDE}`}>{time(queue_ms?.p95)}</td>
    </tr>
  );
}

/** A bar for each step, with the failed ones on top. The numbers are in the columns beside. */
function Bars({ steps }: { steps: readonly Schemas['ActivityStepBody'][] }): ReactNode {
  const most = Math.max(1, ...steps.map(({ ends }) => ends));
  const width = 100 / Math.max(FEWEST_BARS, steps.length);
  return (
    <svg aria-hidden viewBox="0 0 100 20" preserveAspectRatio="none" className="block h-5 w-36">
      {steps.map(({ start, ends, failures }, index) => {
        const height = (ends / most) * 20;
        const failed = (failures / most) * 20;
        const bar = { x: 100 - (steps.length - index) * width, width: width * 0.8 };
        return (
          <g key={start}>
            <rect {...bar} y={20 - height} height={height} className="fill-running" />
            <rect {...bar} y={20 - height} height={failed} className="fill-failed" />
          </g>
        );
      })}
    </svg>
  );
}
