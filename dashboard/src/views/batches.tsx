import { type ReactNode, useRef, useState } from 'react';

import { nextByOffset, usePages } from '../api/queries';
import type { GetQuery, Schemas } from '../api/requests';
import { choice, type Filters, text, useFilters } from '../app/filters';
import { AgentField, StateField } from '../components/choice-filters';
import { CurlButton } from '../components/copy';
import { FilterBar, TimeField } from '../components/fields';
import { Icon } from '../components/icon';
import { Page } from '../components/page';
import { Place } from '../components/place';
import { Progress } from '../components/progress';
import { StateBadge } from '../components/state-badge';
import { Empty, NoMatch } from '../components/states';
import { Ago, Duration } from '../components/time';
import { useNews } from '../components/use-news';
import { type Column, VirtualList } from '../components/virtual-list';
import { numberText, shortId } from '../formats';
import type { LiveEvent } from '../live/messages';
import { useLiveEvents } from '../live/use-live';

type Batch = Schemas['ListedBatchBody'];
type Counts = Pick<Batch, 'status' | 'completed_items' | 'failed_items'>;

const PATH = '/api/v1/batches';

const STATES = ['', 'starting', 'running', 'completed', 'failed', 'cancelled'] as const;

type BatchFilters = Filters<{ status: (typeof STATES)[number]; agent: string; from: string; to: string }>;

export default function Batches(): ReactNode {
  const filters: BatchFilters = useFilters({ status: choice(...STATES), agent: text, from: text, to: text });
  const { status, ...others } = filters.value;
  const query: GetQuery<typeof PATH> = { ...others, status: status || undefined, limit: 100 };
  const pages = usePages(PATH, { query }, { rows: ({ items }) => items, next: nextByOffset });
  const counts = useCounts();
  const current: typeof pages = {
    ...pages,
    rows: pages.rows.map((batch) => ({ ...batch, ...counts.get(batch.batch_id) })),
  };
  const known = new Set(pages.rows.map(({ batch_id }) => batch_id));
  const section = useRef<HTMLDivElement>(null);
  const news = useNews({
    isNew: ({ event_type, ...event }) =>
      event_type === 'batch_progress' && 'batch_id' in event && !known.has(event.batch_id!) ? undefined : false,
    restart: pages.restart,
    within: section,
  });
  return (
    <Page
      title="Batches"
      about="One agent over many inputs, the newest first"
      actions={
        <>
          <Place to="/batches/new" className="button-main">
            <Icon name="batch" />
            Start a batch
          </Place>
          <CurlButton request={{ path: PATH, params: { query } }} />
        </>
      }
    >
      <BatchFilterBar filters={filters} />
      <div ref={section} className="flex flex-1 flex-col">
        <VirtualList
          label="Batches"
          columns={COLUMNS}
          pages={current}
          keyOf={({ batch_id }) => batch_id}
          news={news}
          empty={<NoBatches filters={filters} />}
        />
      </div>
    </Page>
  );
}

/** Returns what the live events have said of each batch since the view was opened. */
function useCounts(): ReadonlyMap<string, Counts> {
  const [counts, setCounts] = useState<ReadonlyMap<string, Counts>>(new Map());
  useLiveEvents((events, resync) => {
    const progress = events.flatMap((event) => countsOf(event) ?? []);
    if (resync) setCounts(new Map());
    else if (progress.length > 0) setCounts((before) => new Map([...before, ...progress]));
  });
  return counts;
}

function countsOf(event: LiveEvent): [string, Counts][] | undefined {
  if (event.event_type !== 'batch_progress') return undefined;
  const { batch_id, status, completed_items, failed_items } = event;
  return [
    [batch_id!, { status: status as Batch['status'], completed_items: completed_items!, failed_items: failed_items! }],
  ];
}

const COLUMNS: Column<Batch>[] = [
  {
    id: 'id',
    title: 'Batch',
    width: 'minmax(120px, 160px)',
    render: ({ batch_id: id }) => (
      <Place to="/batches/$id" params={{ id }}>
        <span className="font-mono text-label">{shortId(id)}</span>
      </Place>
    ),
  },
  { id: 'state', title: 'State', width: '120px', render: ({ status }) => <StateBadge state={status} /> },
  {
    id: 'agent',
    title: 'Agent',
    width: 'minmax(96px, 1fr)',
    from: 420,
    render: ({ agent_name: name }) => (
      <Place to="/agents/$name" params={{ name }}>
        {name}
      </Place>
    ),
  },
  {
    id: 'progress',
    title: 'Progress',
    width: 'minmax(120px, 2fr)',
    from: 640,
    render: ({ batch_id, completed_items: ended, failed_items: failed, total_items: total }) => (
      <Progress label={`Progress of ${shortId(batch_id)}`} {...{ ended, failed, total }} />
    ),
  },
  {
    id: 'items',
    title: 'Items',
    width: '136px',
    from: 560,
    align: 'end',
    render: ({ completed_items, total_items }) => `${numberText(completed_items)} / ${numberText(total_items)}`,
  },
  {
    id: 'failed',
    title: 'Failed',
    width: '80px',
    from: 760,
    align: 'end',
    render: ({ failed_items: count }) => (
      <span className={count > 0 ? 'text-failed' : 'text-muted'}>{numberText(count)}</span>
    ),
  },
  {
    id: 'duration',
    title: 'Duration',
    width: '104px',
    from: 860,
    align: 'end',
    render: ({ started_at, completed_at }) =>
      started_at === undefined ? (
        <span className="text-muted">–</span>
      ) : (
        <Duration from={started_at} to={completed_at} />
      ),
  },
  {
    id: 'created',
    title: 'Created',
    width: '96px',
    from: 340,
    align: 'end',
    render: ({ created_at: at }) => <Ago at={at} />,
  },
];

function BatchFilterBar({ filters: { value, set, clear, isAny } }: { filters: BatchFilters }): ReactNode {
  return (
    <FilterBar isAny={isAny} clear={clear}>
      <StateField value={value.status} states={STATES} onChange={(status) => set({ status })} />
      <AgentField value={value.agent} onChange={(agent) => set({ agent })} />
      <TimeField label="From" value={value.from} onChange={(from) => set({ from })} />
      <TimeField label="To" value={value.to} onChange={(to) => set({ to })} />
    </FilterBar>
  );
}

function NoBatches({ filters: { isAny, clear } }: { filters: BatchFilters }): ReactNode {
  if (isAny) return <NoMatch icon="batch" of="batch" clear={clear} />;
  return (
    <Empty icon="batch" title="No batch has been started yet">
      <Place to="/batches/new">Start one</Place> from a CSV file or a list, or send{' '}
      <code className="font-mono">POST /run/batch</code>.
    </Empty>
  );
}
