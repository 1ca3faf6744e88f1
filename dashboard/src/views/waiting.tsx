import { type ReactNode, useRef } from 'react';

import { nextByCursor, usePages } from '../api/queries';
import type { GetQuery } from '../api/requests';
import { type Filters, text, useFilters } from '../app/filters';
import { AgentField } from '../components/choice-filters';
import { CurlButton, IdChip } from '../components/copy';
import { FilterBar, TextField } from '../components/fields';
import { Icon } from '../components/icon';
import { Page } from '../components/page';
import { PanelButton } from '../components/panel-button';
import { Place } from '../components/place';
import { WithPanel } from '../components/side-panel';
import { Empty, NoMatch } from '../components/states';
import { Ago } from '../components/time';
import { useRefresh } from '../components/use-refresh';
import { type Column, VirtualList } from '../components/virtual-list';
import { changesGroups } from './waiting/changes-groups';
import { GroupPanel } from './waiting/group-panel';
import { type Group, KINDS, Missing, receivedText } from './waiting/group-text';

const PATH = '/api/v1/waiting';

const READERS = { agent: text, correlation_id: text };

type WaitingFilters = Filters<{ agent: string; correlation_id: string }>;

export default function Waiting(): ReactNode {
  const filters: WaitingFilters = useFilters(READERS);
  const chosen = useFilters({ group: text });
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
  const news = useRefresh({
    refresh: pages.restart,
    concerns: changesGroups,
    within: section,
    isOverdue: () => pages.rows.some(isOverdue),
  });
  const { group } = chosen.value;
  return (
    <Page
      title="Waiting"
      about="Joins and batch windows that have some of their artifacts, by agent, subscription and key"
      actions={<CurlButton request={{ path: PATH, params: { query } }} />}
    >
      <WaitingFilterBar filters={filters} />
      <WithPanel>
        <div ref={section} className="flex min-h-80 min-w-0 flex-1 flex-col">
          <VirtualList
            label="Waiting"
            columns={columnsFor((id) => chosen.set({ group: id }), group)}
            pages={pages}
            keyOf={({ group_id }) => group_id}
            news={news}
            empty={<NoGroups filters={filters} />}
          />
        </div>
        {group !== '' && <GroupPanel key={group} id={group} close={() => chosen.set({ group: '' })} />}
      </WithPanel>
    </Page>
  );
}

/** Without a process, nothing acts on the time limit. */
const isOverdue = ({ until, without_process }: Group): boolean =>
  until !== null && !without_process && new Date(until).getTime() < Date.now();

const columnsFor = (choose: (id: string) => void, chosen: string): Column<Group>[] => [
  {
    id: 'kind',
    title: 'Kind',
    width: '144px',
    from: 400,
    render: ({ kind }) => (
      <span className="inline-flex items-center gap-1.5 align-middle">
        <Icon name="waiting" className="text-waiting" />
        {KINDS[kind]}
      </span>
    ),
  },
  {
    id: 'agent',
    title: 'Agent',
    width: 'minmax(96px, 1.3fr)',
    render: ({ group_id: id, agent }) => (
      <PanelButton id={id} chosen={chosen} choose={choose}>
        {agent}
      </PanelButton>
    ),
  },
  {
    id: 'subscription',
    title: 'Subscription',
    width: '108px',
    from: 960,
    align: 'end',
    render: ({ subscription }) => subscription !== null && subscription + 1,
  },
  {
    id: 'key',
    title: 'Key',
    width: 'minmax(80px, 1fr)',
    from: 640,
    render: ({ join_key }) =>
      join_key === null ? (
        <span className="text-muted">–</span>
      ) : (
        <code title={join_key} className="font-mono text-label">
          {join_key}
        </code>
      ),
  },
  {
    id: 'received',
    title: 'Arrived',
    width: 'minmax(0, 1fr)',
    from: 520,
    render: (group) => <span title={receivedText(group)}>{receivedText(group)}</span>,
  },
  {
    id: 'missing',
    title: 'Missing',
    width: 'minmax(0, 1fr)',
    render: (group) =>
      group.without_process ? (
        <span className="text-waiting">a process with the subscription</span>
      ) : (
        <Missing group={group} />
      ),
  },
  {
    id: 'correlation',
    title: 'Correlation',
    width: '160px',
    from: 900,
    render: ({ correlation_id: id }) =>
      id === null ? (
        <span className="text-muted">several</span>
      ) : (
        <IdChip id={id} what="correlation" to={{ to: '/correlations/$id', params: { id } }} />
      ),
  },
  { id: 'since', title: 'Since', width: '104px', from: 760, align: 'end', render: ({ since }) => <Ago at={since} /> },
  {
    id: 'until',
    title: 'Until',
    width: '88px',
    align: 'end',
    render: ({ until }) => (until === null ? <span className="text-muted">no limit</span> : <Ago at={until} />),
  },
];

function WaitingFilterBar({ filters: { value, set, clear, isAny } }: { filters: WaitingFilters }): ReactNode {
  return (
    <FilterBar isAny={isAny} clear={clear}>
      <AgentField value={value.agent} onChange={(agent) => set({ agent })} />
      <TextField
        label="Correlation"
        value={value.correlation_id}
        onChange={(correlation_id) => set({ correlation_id })}
      />
    </FilterBar>
  );
}

function NoGroups({ filters: { isAny, clear } }: { filters: WaitingFilters }): ReactNode {
  if (isAny) return <NoMatch icon="waiting" of="join and no batch window" clear={clear} />;
  return (
    <Empty icon="waiting" title="No join and no batch window waits">
      One appears here when an agent has some of the artifacts that it needs together.{' '}
      <Place to="/publish">Publish an example</Place>
    </Empty>
  );
}
