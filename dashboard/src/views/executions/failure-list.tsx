import { type ReactNode, useRef } from 'react';

import { nextByCursor, usePages } from '../../api/queries';
import type { GetQuery, Schemas } from '../../api/requests';
import { type Filters, text, useFilters } from '../../app/filters';
import { AgentField } from '../../components/choice-filters';
import { CurlButton } from '../../components/copy';
import { FilterBar, TextField, TimeField } from '../../components/fields';
import { OperationButton } from '../../components/operation-button';
import { Place } from '../../components/place';
import { Empty, NoMatch } from '../../components/states';
import { Ago } from '../../components/time';
import { useNews } from '../../components/use-news';
import { type Column, VirtualList } from '../../components/virtual-list';
import { numberText } from '../../formats';
import { Frame } from './frame';

type FailureGroup = Schemas['FailureGroupBody'];

const PATH = '/api/v1/executions/failures';

const READERS = { agent: text, error_type: text, from: text, to: text };

type FailureFilters = Filters<{ [K in keyof typeof READERS]: string }>;

/** Failed executions in groups, the group that failed last first. */
export function FailureList(): ReactNode {
  const filters: FailureFilters = useFilters(READERS);
  const chosen = useFilters({ execution: text, operation: text });
  const query: GetQuery<typeof PATH> = { ...filters.value, limit: 100 };
  const pages = usePages(
    PATH,
    { query },
    {
      rows: ({ items }) => items,
      next: nextByCursor,
    },
  );
  const section = useRef<HTMLDivElement>(null);
  const { agent } = filters.value;
  const news = useNews({
    isNew: (event) =>
      event.event_type === 'execution_failed' && (agent === '' || event.agent === agent) ? undefined : false,
    restart: pages.restart,
    within: section,
  });
  return (
    <Frame
      about="Failed executions with the same agent, error type and message, the newest failure first"
      actions={<CurlButton request={{ path: PATH, params: { query } }} />}
      filterBar={<FailureFilterBar filters={filters} />}
      changed={() => void pages.restart()}
    >
      <div ref={section} className="flex min-h-80 min-w-0 flex-1 flex-col">
        <VirtualList
          label="Groups of failures"
          columns={columnsFor(chosen)}
          pages={pages}
          keyOf={({ group }) => group}
          news={news}
          empty={<NoFailures filters={filters} />}
        />
      </div>
    </Frame>
  );
}

const columnsFor = ({ value, set }: Filters<{ execution: string; operation: string }>): Column<FailureGroup>[] => [
  {
    id: 'count',
    title: 'Failed',
    width: '72px',
    align: 'end',
    render: ({ count }) => <span className="text-failed">{numberText(count)}</span>,
  },
  {
    id: 'agent',
    title: 'Agent',
    width: 'minmax(96px, 1fr)',
    from: 560,
    render: ({ agent: name }) => (
      <Place to="/agents/$name" params={{ name }}>
        {name}
      </Place>
    ),
  },
  {
    id: 'message',
    title: 'Error',
    width: 'minmax(0, 3fr)',
    render: ({ group, error_type, message }) => (
      <Place to="/executions" search={{ failure_group: group }} className="link block truncate leading-6">
        <span title={`${error_type} ${message}`}>
          <span className="text-failed">{error_type}</span> {message}
        </span>
      </Place>
    ),
  },
  {
    id: 'first',
    title: 'First',
    width: '96px',
    from: 860,
    align: 'end',
    render: ({ first_at: at }) => <Ago at={at} />,
  },
  { id: 'last', title: 'Last', width: '96px', from: 640, align: 'end', render: ({ last_at: at }) => <Ago at={at} /> },
  {
    id: 'example',
    title: 'Example',
    width: '96px',
    from: 480,
    render: ({ example, message }) => (
      <button
        type="button"
        className="link"
        aria-label={`Show one of ${message}`}
        aria-expanded={example === value.execution}
        onClick={() => set({ execution: example === value.execution ? '' : example })}
      >
        Show one
      </button>
    ),
  },
  {
    id: 'actions',
    title: 'Actions',
    width: '96px',
    align: 'end',
    render: ({ group, agent, message }) => (
      <OperationButton
        kind="retry"
        filter={() => ({ group })}
        text="Retry"
        label={`Retry the group ${message}`}
        className="inline-flex h-6 items-center gap-1 rounded-md border border-line-strong px-2 text-label hover:bg-selected"
        onStart={(operation) => set({ operation })}
      >
        <p className="pb-2">
          All failures of {agent} with this message run again on the same inputs, with all attempts of the agent, and
          their correlations reopen.
        </p>
        <p className="text-failed">{message}</p>
      </OperationButton>
    ),
  },
];

function FailureFilterBar({ filters: { value, set, clear, isAny } }: { filters: FailureFilters }): ReactNode {
  return (
    <FilterBar isAny={isAny} clear={clear}>
      <AgentField value={value.agent} onChange={(agent) => set({ agent })} />
      <TextField label="Error type" value={value.error_type} onChange={(error_type) => set({ error_type })} />
      <TimeField label="From" value={value.from} onChange={(from) => set({ from })} />
      <TimeField label="To" value={value.to} onChange={(to) => set({ to })} />
    </FilterBar>
  );
}

function NoFailures({ filters: { isAny, clear } }: { filters: FailureFilters }): ReactNode {
  if (isAny) return <NoMatch icon="execution" of="failure" clear={clear} />;
  return (
    <Empty icon="check" title="No execution has failed">
      An execution fails when the last attempt of its agent fails. Failures with the same cause appear here as one row.
    </Empty>
  );
}
