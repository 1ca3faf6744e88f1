import { type ReactNode, useRef } from 'react';

import { useAgents, useTypeNames } from '../api/catalog';
import { choice, type Filters, list, text, useFilters } from '../app/filters';
import { CurlButton } from '../components/copy';
import { FilterBar, ListField, TextField } from '../components/fields';
import { Icon } from '../components/icon';
import { Page } from '../components/page';
import { Place } from '../components/place';
import { Empty, FailureLine, NoMatch } from '../components/states';
import { Ago, Time } from '../components/time';
import { type Column, VirtualList } from '../components/virtual-list';
import { numberText } from '../formats';
import { type LiveEvent, OTHER_EVENTS } from '../live/messages';
import { Correlation, Details, EventKind, Subject } from './changelog/event-cells';
import { MOST_ROWS, PATH, queryOf } from './changelog/feed';
import { cursorOf, type FeedFilter, type Row, wantsEntries } from './changelog/rows';
import { type UsedFeed, useFeed } from './changelog/use-feed';

const READERS = { type: list, agent: list, correlation_id: text, kind: list, before: text };

type ChangelogFilters = Filters<FeedFilter>;

const eventOf = (row: Row): LiveEvent | undefined =>
  'entry' in row ? row.entry : 'event' in row ? row.event : undefined;

const column = (
  settings: Omit<Column<Row>, 'render'>,
  render: (event: LiveEvent, row: Row) => ReactNode,
): Column<Row> => ({
  ...settings,
  render: (row) => {
    const event = eventOf(row);
    return event && render(event, row);
  },
});

const COLUMNS: Column<Row>[] = [
  column({ id: 'time', title: 'Time', width: '136px', from: 720 }, ({ timestamp }) => <Time at={timestamp} />),
  column({ id: 'event', title: 'Event', width: 'clamp(62px, 18vw, 120px)' }, (event) => <EventKind event={event} />),
  column({ id: 'subject', title: 'What', width: 'minmax(0, 1fr)' }, (event) => <Subject event={event} />),
  column({ id: 'details', title: 'Details', width: 'minmax(0, 1.5fr)', from: 620 }, (event) => (
    <Details event={event} />
  )),
  column(
    { id: 'correlation', title: 'Correlation', width: '176px', from: 880 },
    ({ correlation_id }) => correlation_id !== undefined && <Correlation id={correlation_id} />,
  ),
  column({ id: 'position', title: 'Position', width: '88px', align: 'end', from: 480 }, (_event, row) =>
    'entry' in row ? numberText(row.seq) : <span className="text-muted">live</span>,
  ),
  column({ id: 'age', title: 'Age', width: '104px', align: 'end' }, ({ timestamp }) => <Ago at={timestamp} />),
];

export default function Changelog(): ReactNode {
  const filters: ChangelogFilters = useFilters(READERS);
  const pause = useFilters({ paused: choice('', 'true') });
  const isPaused = pause.value.paused === 'true';
  const isLive = filters.value.before === '';
  const section = useRef<HTMLDivElement>(null);
  const feed = useFeed(filters.value, section, isPaused);
  const togglePause = (): void => {
    pause.set({ paused: isPaused ? '' : 'true' });
    if (isPaused) feed.release();
  };
  return (
    <Page
      title="Changelog"
      about={aboutOf(isLive, isPaused, filters.value)}
      actions={
        <>
          {isLive ? (
            <button type="button" className="button" aria-pressed={isPaused} onClick={togglePause}>
              <Icon name={isPaused ? 'execution' : 'bars'} />
              {isPaused ? `Resume${feed.held > 0 ? ` (${numberText(feed.held)} new)` : ''}` : 'Pause'}
            </button>
          ) : (
            <button type="button" className="button" onClick={() => filters.set({ before: '' })}>
              <Icon name="execution" />
              Back to the newest
            </button>
          )}
          <CurlButton request={{ path: PATH, params: { query: queryOf(filters.value) } }} />
        </>
      }
    >
      <ChangelogFilterBar filters={filters} />
      <div ref={section} className="flex min-h-80 flex-1 flex-col">
        <VirtualList
          label="Changelog"
          columns={COLUMNS}
          pages={feed}
          keyOf={({ key }) => key}
          news={feed.held > 0 && !isPaused ? { count: feed.held, show: feed.release } : undefined}
          noteOf={(row) => ('note' in row ? <Note {...row} /> : undefined)}
          end={<End feed={feed} filter={filters.value} />}
          empty={<Nothing filters={filters} />}
        />
      </div>
    </Page>
  );
}

function aboutOf(isLive: boolean, isPaused: boolean, filter: FeedFilter): string {
  if (!isLive) return `What was published before position ${filter.before}`;
  if (isPaused) return 'Paused; what happens meanwhile is shown when you resume';
  return 'What is published, and what happens to executions, as it happens';
}

function Note({ note, about }: { note: string; about: string }): ReactNode {
  return (
    <span title={about} className="inline-flex items-center gap-1.5 align-middle text-waiting">
      <Icon name="warning" />
      {note}
    </span>
  );
}

/** Why the list ends where it does. */
function End({ feed: { rows, error, restart }, filter }: { feed: UsedFeed; filter: FeedFilter }): ReactNode {
  if (error !== null) return <FailureLine error={error} retry={() => void restart()} />;
  if (rows.length < MOST_ROWS) return null;
  return (
    <p className="p-3 text-table text-muted">
      This list keeps {numberText(MOST_ROWS)} rows.{' '}
      <Place to="/changelog" search={{ ...filter, before: String(cursorOf(rows.at(-1)!)) }} className="link underline">
        Show older entries
      </Place>
    </p>
  );
}

const KINDS = ['artifact_published', ...OTHER_EVENTS];

function ChangelogFilterBar({ filters: { value, set, isAny } }: { filters: ChangelogFilters }): ReactNode {
  const types = useTypeNames();
  const agents = useAgents();
  return (
    <FilterBar isAny={isAny} clear={() => set(NO_FILTER)}>
      <ListField
        label="Event"
        values={value.kind}
        suggestions={KINDS}
        placeholder="all but output"
        onChange={(kind) => set({ kind })}
      />
      <ListField label="Type" values={value.type} suggestions={types} onChange={(type) => set({ type })} />
      <ListField
        label="Agent or producer"
        values={value.agent}
        suggestions={['external', ...agents.map(({ name }) => name)]}
        onChange={(agent) => set({ agent })}
      />
      <TextField
        label="Correlation"
        value={value.correlation_id}
        onChange={(correlation_id) => set({ correlation_id })}
      />
    </FilterBar>
  );
}

const NO_FILTER: FeedFilter = { type: [], agent: [], correlation_id: '', kind: [], before: '' };

function Nothing({ filters: { value, isAny, set } }: { filters: ChangelogFilters }): ReactNode {
  if (!wantsEntries(value))
    return (
      <Empty icon="changelog" title="Nothing has happened yet">
        Live events are not stored. They appear here as they happen, while this page is open.
      </Empty>
    );
  if (isAny) return <NoMatch icon="changelog" of="entry" clear={() => set(NO_FILTER)} />;
  return (
    <Empty icon="changelog" title="Nothing has been published yet">
      Whatever is published appears here, with what the agents do. <Place to="/publish">Publish an example</Place>
    </Empty>
  );
}
