import { type ReactNode, useRef } from 'react';

import { useTypeNames } from '../api/catalog';
import { nextByCursor, usePages } from '../api/queries';
import type { GetQuery, Schemas } from '../api/requests';
import { choice, type Filters, text, useFilters } from '../app/filters';
import { AgentField, StateField } from '../components/choice-filters';
import { CurlButton, IdChip } from '../components/copy';
import { ChoiceField, FilterBar, TextField, TimeField } from '../components/fields';
import { Page } from '../components/page';
import { Place } from '../components/place';
import { StateBadge } from '../components/state-badge';
import { Empty, NoMatch } from '../components/states';
import { Ago, Duration } from '../components/time';
import { useNews } from '../components/use-news';
import { type Column, VirtualList } from '../components/virtual-list';
import { compactNumberText, costText, numberText } from '../formats';
import type { LiveEvent } from '../live/messages';
import { useLiveRefresh } from '../live/use-live';

type Correlation = Schemas['ListedCorrelationBody'];

const PATH = '/api/v1/correlations';

const STATES = ['', 'active', 'completed', 'failed', 'cancelled'] as const;

const READERS = {
  state: choice(...STATES),
  agent: text,
  type: text,
  tag: text,
  id_prefix: text,
  from: text,
  to: text,
  replay: choice('', 'true'),
};

const REPLAYS = [
  { value: '', text: 'left out' },
  { value: 'true', text: 'included' },
] as const;

type CorrelationFilters = Filters<{ [K in keyof typeof READERS]: ReturnType<(typeof READERS)[K]> }>;

const COLUMNS: Column<Correlation>[] = [
  { id: 'state', title: 'State', width: '120px', render: ({ state }) => <StateBadge state={state} /> },
  {
    id: 'id',
    title: 'Correlation',
    width: 'minmax(0, 1fr)',
    render: ({ correlation_id: id, replay_mode }) => (
      <>
        <IdChip id={id} what="correlation" to={{ to: '/correlations/$id', params: { id } }} />
        {replay_mode !== undefined && <span className="ml-2 text-label text-muted">{replay_mode} replay</span>}
      </>
    ),
  },
  {
    id: 'artifacts',
    title: 'Artifacts',
    width: '88px',
    align: 'end',
    from: 560,
    render: ({ artifact_count }) => numberText(artifact_count),
  },
  {
    id: 'errors',
    title: 'Errors',
    width: '72px',
    align: 'end',
    from: 640,
    render: ({ error_count }) =>
      error_count === 0 ? (
        <span className="text-muted">0</span>
      ) : (
        <span className="text-failed">{numberText(error_count)}</span>
      ),
  },
  {
    id: 'pending',
    title: 'Pending',
    width: '80px',
    align: 'end',
    from: 720,
    render: ({ pending_count }) => (pending_count === 0 ? '' : numberText(pending_count)),
  },
  {
    id: 'tokens',
    title: 'Tokens',
    width: '80px',
    align: 'end',
    from: 860,
    render: ({ usage }) => usage && compactNumberText(usage.input_tokens + usage.output_tokens),
  },
  {
    id: 'cost',
    title: 'Cost',
    width: '80px',
    align: 'end',
    from: 860,
    render: ({ usage }) => usage?.cost !== undefined && costText(usage.cost),
  },
  {
    id: 'duration',
    title: 'Duration',
    width: '112px',
    align: 'end',
    from: 480,
    render: ({ started_at, settled_at }) => <Duration from={started_at} to={settled_at} />,
  },
  {
    id: 'began',
    title: 'Began',
    width: '104px',
    align: 'end',
    from: 400,
    render: ({ started_at }) => <Ago at={started_at} />,
  },
];

export default function Correlations(): ReactNode {
  const filters = useFilters(READERS);
  const { state, replay, ...others } = filters.value;
  const query: GetQuery<typeof PATH> = {
    ...others,
    state: state || undefined,
    replay: replay === 'true' ? true : undefined,
    limit: 100,
  };
  const pages = usePages(PATH, { query }, { rows: (page) => page.items, next: nextByCursor });
  const section = useRef<HTMLDivElement>(null);
  const shown = new Set(pages.rows.map(({ correlation_id }) => correlation_id));
  const news = useNews({
    isNew: (event) => isNew(event, filters.value, shown),
    restart: pages.restart,
    within: section,
  });
  useLiveRefresh(() => void pages.refresh(), changesRows, 2_000);
  return (
    <Page
      title="Correlations"
      about="Each publish, and everything that follows from it"
      actions={<CurlButton request={{ path: PATH, params: { query } }} />}
    >
      <CorrelationFilterBar filters={filters} />
      <div ref={section} className="flex flex-1 flex-col">
        <VirtualList
          label="Correlations"
          columns={COLUMNS}
          pages={pages}
          keyOf={({ correlation_id }) => correlation_id}
          news={news}
          empty={<NoCorrelations filters={filters} />}
        />
      </div>
    </Page>
  );
}

/** The state, the counts and the end of a row. */
const changesRows = ({ event_type }: LiveEvent): boolean =>
  event_type === 'correlation_settled' || event_type === 'artifact_published';

/** A first artifact that a client publishes begins a correlation. Its event names the type, and not the other filters. */
function isNew(event: LiveEvent, filter: CorrelationFilters['value'], shown: Set<string>): boolean | undefined {
  if (event.event_type !== 'artifact_published' || event.produced_by !== 'external') return false;
  if (filter.to !== '' || !event.correlation_id.startsWith(filter.id_prefix)) return false;
  if (filter.type !== '' && filter.type !== event.artifact_type) return false;
  if (shown.has(event.correlation_id)) return false;
  return filter.state === '' && filter.agent === '' && filter.tag === '' ? true : undefined;
}

function CorrelationFilterBar({ filters: { value, set, clear, isAny } }: { filters: CorrelationFilters }): ReactNode {
  const types = useTypeNames();
  const names = (all: readonly string[]) => [
    { value: '', text: 'any' },
    ...all.map((one) => ({ value: one, text: one })),
  ];
  return (
    <FilterBar isAny={isAny} clear={clear}>
      <StateField value={value.state} states={STATES} onChange={(state) => set({ state })} />
      <AgentField value={value.agent} onChange={(agent) => set({ agent })} />
      <ChoiceField label="Type" value={value.type} choices={names(types)} onChange={(type) => set({ type })} />
      <TextField label="Tag" value={value.tag} onChange={(tag) => set({ tag })} />
      <TextField label="Id begins with" value={value.id_prefix} onChange={(id_prefix) => set({ id_prefix })} />
      <TimeField label="From" value={value.from} onChange={(from) => set({ from })} />
      <TimeField label="To" value={value.to} onChange={(to) => set({ to })} />
      <ChoiceField label="Replays" value={value.replay} choices={REPLAYS} onChange={(replay) => set({ replay })} />
    </FilterBar>
  );
}

function NoCorrelations({ filters: { isAny, clear } }: { filters: CorrelationFilters }): ReactNode {
  if (isAny) return <NoMatch icon="correlation" of="correlation" clear={clear} />;
  return (
    <Empty icon="correlation" title="Nothing has been published yet">
      The first publish begins a correlation, with everything that agents make of it.{' '}
      <Place to="/publish">Publish an example</Place>
    </Empty>
  );
}
