import { type ReactNode, useRef } from 'react';

import { nextByOffset, usePages } from '../../api/queries';
import type { GetQuery, Schemas } from '../../api/requests';
import { choice, type Filters, text, useFilters } from '../../app/filters';
import { AgentField, StateField } from '../../components/choice-filters';
import { CurlButton, IdChip } from '../../components/copy';
import { ChoiceField, FilterBar, TextField } from '../../components/fields';
import { OperationButton, type OperationButtonProps } from '../../components/operation-button';
import { PanelButton } from '../../components/panel-button';
import { Place } from '../../components/place';
import { StateBadge } from '../../components/state-badge';
import { Empty, NoMatch } from '../../components/states';
import { Ago, Duration } from '../../components/time';
import { useNews } from '../../components/use-news';
import { type Column, VirtualList } from '../../components/virtual-list';
import type { LiveEvent } from '../../live/messages';
import { Frame } from './frame';

type Execution = Schemas['ListedExecutionBody'];

const PATH = '/api/v1/executions';

const STATES = ['', 'pending', 'running', 'completed', 'failed', 'cancelled'] as const;

const REASONS = ['', 'slot', 'claim', 'retry', 'limit', 'resume'] as const;

const REASON_TEXTS: Record<(typeof REASONS)[number], string> = {
  '': 'any',
  slot: 'a free slot',
  claim: 'a claim',
  retry: 'its next attempt',
  limit: 'a limit, a turn or a breaker',
  resume: 'its paused agent',
};

const READERS = {
  state: choice(...STATES),
  agent: text,
  correlation_id: text,
  assignee: text,
  waits_for: choice(...REASONS),
  without_agent: choice('', 'true'),
  failure_group: text,
};

type ExecutionFilters = Filters<{
  state: (typeof STATES)[number];
  agent: string;
  correlation_id: string;
  assignee: string;
  waits_for: (typeof REASONS)[number];
  without_agent: '' | 'true';
  failure_group: string;
}>;

/** All executions, the newest first. */
export function ExecutionList(): ReactNode {
  const filters: ExecutionFilters = useFilters(READERS);
  const chosen = useFilters({ execution: text });
  const { state, waits_for, without_agent, ...others } = filters.value;
  const query: GetQuery<typeof PATH> = {
    ...others,
    state: state || undefined,
    waits_for: waits_for || undefined,
    without_agent: without_agent === 'true' ? true : undefined,
    limit: 100,
  };
  const pages = usePages(
    PATH,
    { query },
    {
      rows: ({ items }) => items,
      next: nextByOffset,
    },
  );
  const section = useRef<HTMLDivElement>(null);
  const news = useNews({ isNew: (event) => isNew(event, filters.value), restart: pages.restart, within: section });
  return (
    <Frame
      about="Each is one agent at work on its inputs, the newest first"
      actions={
        <>
          <OperationOnAll filters={filters.value} />
          <CurlButton request={{ path: PATH, params: { query } }} />
        </>
      }
      filterBar={<ExecutionFilterBar filters={filters} />}
      changed={() => void pages.restart()}
    >
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
    </Frame>
  );
}

/** Retries or fails what the filters match, if an operation takes these filters. */
function OperationOnAll({ filters }: { filters: ExecutionFilters['value'] }): ReactNode {
  const { set } = useFilters({ operation: text });
  const operation = operationOn(filters);
  if (operation === undefined) return null;
  const onStart = (id: string): void => set({ operation: id });
  return operation.kind === 'retry' ? (
    <OperationButton {...operation} text="Retry all" onStart={onStart}>
      They run again on the same inputs, with all attempts of their agents, and their correlations reopen.
    </OperationButton>
  ) : (
    <OperationButton {...operation} text="Fail all" onStart={onStart}>
      They wait for a claim or for a retry. None of them will run, and their correlations continue without them.
    </OperationButton>
  );
}

/** Undefined if no operation takes these filters. */
function operationOn({
  state,
  agent,
  correlation_id,
  assignee,
  waits_for,
  without_agent,
  failure_group,
}: ExecutionFilters['value']): Pick<OperationButtonProps, 'kind' | 'filter'> | undefined {
  const given = {
    ...(agent !== '' && { agent }),
    ...(correlation_id !== '' && { correlation_id }),
    ...(failure_group !== '' && { group: failure_group }),
  };
  if (assignee !== '' || waits_for !== '' || Object.keys(given).length === 0) return undefined;
  const areFailed = state === 'failed' || (state === '' && failure_group !== '');
  if (areFailed && without_agent === '') return { kind: 'retry', filter: () => given };
  if (state !== 'pending' || failure_group !== '') return undefined;
  // An agent alone means one that no process has.
  const isOfRemoved = without_agent !== '' && correlation_id === '';
  if (isOfRemoved) return { kind: 'fail', filter: () => given };
  if (without_agent !== '') return undefined;
  return { kind: 'fail', filter: () => ({ ...given, to: new Date().toISOString() }) };
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
      <PanelButton id={id} chosen={chosen} choose={choose}>
        {agent}
      </PanelButton>
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
  return (
    <FilterBar isAny={isAny} clear={clear}>
      <StateField value={value.state} states={STATES} onChange={(state) => set({ state })} />
      <AgentField value={value.agent} onChange={(agent) => set({ agent })} />
      <TextField
        label="Correlation"
        value={value.correlation_id}
        onChange={(correlation_id) => set({ correlation_id })}
      />
      <TextField label="Assignee" value={value.assignee} onChange={(assignee) => set({ assignee })} />
      <ChoiceField
        label="Waits for"
        value={value.waits_for}
        choices={REASONS.map((reason) => ({ value: reason, text: REASON_TEXTS[reason] }))}
        onChange={(waits_for) => set({ waits_for })}
      />
      <ChoiceField
        label="Processes"
        value={value.without_agent}
        choices={[
          { value: '', text: 'any' },
          { value: 'true', text: 'none has the agent' },
        ]}
        onChange={(without_agent) => set({ without_agent })}
      />
      {value.failure_group !== '' && (
        <TextField
          label="Failure group"
          value={value.failure_group}
          onChange={(failure_group) => set({ failure_group })}
        />
      )}
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
