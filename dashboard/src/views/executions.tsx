import { type ReactNode, useRef } from 'react';

import { useAgents } from '../api/catalog';
import { usePages } from '../api/queries';
import type { GetQuery, Schemas } from '../api/requests';
import { choice, type Filters, text, useFilters } from '../app/filters';
import { agentChoices } from '../components/agent-choices';
import { CurlButton, IdChip } from '../components/copy';
import { ChoiceField, FilterBar, TextField } from '../components/fields';
import { Page } from '../components/page';
import { Place } from '../components/place';
import { WithPanel } from '../components/side-panel';
import { StateBadge } from '../components/state-badge';
import { Empty, NoMatch } from '../components/states';
import { Ago, Duration } from '../components/time';
import { useNews } from '../components/use-news';
import { type Column, VirtualList } from '../components/virtual-list';
import type { LiveEvent } from '../live/messages';
import { ExecutionPanel } from './executions/execution-panel';

type Execution = Schemas['ListedExecutionBody'];

const PATH = '/api/v1/executions';

const STATES = ['', 'pending', 'running', 'completed', 'failed', 'cancelled'] as const;

const READERS = {
  state: choice(...STATES),
  agent: text,
  correlation_id: text,
  assignee: text,
  without_agent: choice('', 'true'),
};

type ExecutionFilters = Filters<{
  state: (typeof STATES)[number];
  agent: string;
  correlation_id: string;
  assignee: string;
  without_agent: '' | 'true';
}>;

export default function Executions(): ReactNode {
  const filters: ExecutionFilters = useFilters(READERS);
  const chosen = useFilters({ execution: text });
  const { state, agent, correlation_id, assignee, without_agent } = filters.value;
  const query: GetQuery<typeof PATH> = {
    state: state || undefined,
    agent,
    correlation_id,
    assignee,
    without_agent: without_agent === 'true' ? true : undefined,
    limit: 100,
  };
  const pages = usePages(
    PATH,
    { query },
    {
      rows: ({ items }) => items,
      next: ({ pagination: { has_more, offset, limit } }) => (has_more ? { offset: offset + limit } : undefined),
    },
  );
  const section = useRef<HTMLDivElement>(null);
  const news = useNews({ isNew: (event) => isNew(event, filters.value), restart: pages.restart, within: section });
  return (
    <Page
      title="Executions"
      about="Each is one agent at work on its inputs, the newest first"
      actions={<CurlButton request={{ path: PATH, params: { query } }} />}
    >
      <ExecutionFilterBar filters={filters} />
      <WithPanel>
        <div ref={section} className="flex min-h-80 min-w-0 flex-1 flex-col">
          <VirtualList
            label="Executions"
            columns={columnsFor((execution) => chosen.set({ execution }), chosen.value.execution)}
            pages={pages}
            keyOf={({ id }) => id}
            news={news}
            empty={<NoExecutions filters={filters} />}
          />
        </div>
        {chosen.value.execution !== '' && (
          <ExecutionPanel
            key={chosen.value.execution}
            id={chosen.value.execution}
            close={() => chosen.set({ execution: '' })}
            changed={() => void pages.restart()}
          />
        )}
      </WithPanel>
    </Page>
  );
}

/** The events of executions do not say whether the execution is new, nor its assignee. */
function isNew(event: LiveEvent, { agent, correlation_id }: ExecutionFilters['value']): boolean | undefined {
  if (!event.event_type.startsWith('execution_') || event.event_type === 'execution_output') return false;
  const of = event as { agent?: string };
  const isOther =
    (agent !== '' && of.agent !== undefined && of.agent !== agent) ||
    (correlation_id !== '' && event.correlation_id !== correlation_id);
  return isOther ? false : undefined;
}

const columnsFor = (choose: (id: string) => void, chosen: string): Column<Execution>[] => [
  {
    id: 'state',
    title: 'State',
    width: '116px',
    render: ({ state, next_attempt_at }) => (
      <StateBadge state={state === 'pending' && next_attempt_at !== null ? 'retrying' : state} />
    ),
  },
  {
    id: 'agent',
    title: 'Agent',
    width: 'minmax(96px, 1fr)',
    render: ({ id, agent }) => (
      <button
        type="button"
        className="link max-w-full truncate"
        aria-expanded={id === chosen}
        onClick={() => choose(id === chosen ? '' : id)}
      >
        {agent}
      </button>
    ),
  },
  {
    id: 'error',
    title: 'Error',
    width: 'minmax(0, 2fr)',
    from: 480,
    render: (execution) => <Why {...execution} />,
  },
  {
    id: 'attempt',
    title: 'Attempt',
    width: '80px',
    from: 620,
    align: 'end',
    render: ({ attempt, round }) => (round === 0 ? attempt : `${attempt} (retry ${round})`),
  },
  {
    id: 'duration',
    title: 'Duration',
    width: '104px',
    from: 720,
    align: 'end',
    render: ({ started_at, ended_at, state }) =>
      started_at === null || (ended_at === null && state !== 'running') ? (
        <span className="text-muted">–</span>
      ) : (
        <Duration from={started_at} to={ended_at} />
      ),
  },
  {
    id: 'correlation',
    title: 'Correlation',
    width: '176px',
    from: 900,
    render: ({ correlation_id: id }) => (
      <IdChip id={id} what="correlation" to={{ to: '/correlations/$id', params: { id } }} />
    ),
  },
  { id: 'id', title: 'Id', width: '164px', from: 1_060, render: ({ id }) => <IdChip id={id} what="execution" /> },
  { id: 'created', title: 'Created', width: '96px', align: 'end', render: ({ created_at: at }) => <Ago at={at} /> },
];

/** The error, or what the execution waits for. */
function Why({ error_type, error_message, without_agent, next_attempt_at, assignee, state }: Execution): ReactNode {
  if (without_agent) return <span className="text-waiting">waits for a process that has the agent</span>;
  if (error_message !== null)
    return (
      <span title={error_message}>
        <span className="text-failed">{error_type}</span> {error_message}
      </span>
    );
  if (state === 'pending' && next_attempt_at !== null)
    return (
      <span className="text-muted">
        next attempt <Ago at={next_attempt_at} />
      </span>
    );
  if (state === 'pending' && assignee !== null) return <span className="text-muted">waits for {assignee}</span>;
  return null;
}

function ExecutionFilterBar({ filters: { value, set, clear, isAny } }: { filters: ExecutionFilters }): ReactNode {
  const agents = useAgents();
  return (
    <FilterBar isAny={isAny} clear={clear}>
      <ChoiceField
        label="State"
        value={value.state}
        choices={STATES.map((state) => ({ value: state, text: state || 'any' }))}
        onChange={(state) => set({ state })}
      />
      <ChoiceField
        label="Agent"
        value={value.agent}
        choices={agentChoices(agents, value.agent)}
        onChange={(agent) => set({ agent })}
      />
      <TextField
        label="Correlation"
        value={value.correlation_id}
        onChange={(correlation_id) => set({ correlation_id })}
      />
      <TextField label="Assignee" value={value.assignee} onChange={(assignee) => set({ assignee })} />
      <ChoiceField
        label="Processes"
        value={value.without_agent}
        choices={[
          { value: '', text: 'any' },
          { value: 'true', text: 'none has the agent' },
        ]}
        onChange={(without_agent) => set({ without_agent })}
      />
    </FilterBar>
  );
}

function NoExecutions({ filters: { isAny, clear } }: { filters: ExecutionFilters }): ReactNode {
  if (isAny) return <NoMatch icon="execution" of="execution" clear={clear} />;
  return (
    <Empty icon="execution" title="No agent has run yet">
      An execution appears here when an artifact matches an agent's subscription.{' '}
      <Place to="/publish">Publish an example</Place>
    </Empty>
  );
}
