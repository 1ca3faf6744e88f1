import { type ReactNode, useRef } from 'react';

import { useAgents, useTypeNames } from '../api/catalog';
import { type PagesOptions, prefetchPages, useApi, usePages } from '../api/queries';
import type { GetQuery, Schemas } from '../api/requests';
import { choice, choices, type Filters, filtersIn, list, text, useFilters } from '../app/filters';
import type { Search } from '../app/search';
import { CurlButton, IdChip } from '../components/copy';
import { ChoiceField, FilterBar, ListField, TextField, TimeField } from '../components/fields';
import { JsonLine } from '../components/json-line';
import { Page } from '../components/page';
import { Place } from '../components/place';
import { Empty, FailureLine, LoadingRows, NoMatch } from '../components/states';
import { Ago } from '../components/time';
import { useNews } from '../components/use-news';
import { type Column, VirtualList } from '../components/virtual-list';
import { countText, numberText } from '../formats';
import type { LiveEvent } from '../live/messages';

type Artifact = Schemas['ListedArtifactBody'];

const PATH = '/api/v1/artifacts';

const KINDS = ['Public', 'Private', 'Labelled', 'Tenant', 'After'] as const;

const kindsIn = choices(...KINDS);

const READERS = {
  type: list,
  produced_by: list,
  correlation_id: text,
  tag: list,
  visibility: kindsIn,
  from: text,
  to: text,
  order: choice('desc', 'asc'),
};

type ArtifactFilters = Filters<{
  type: string[];
  produced_by: string[];
  correlation_id: string;
  tag: string[];
  visibility: (typeof KINDS)[number][];
  from: string;
  to: string;
  order: 'asc' | 'desc';
}>;

const COLUMNS: Column<Artifact>[] = [
  {
    id: 'type',
    title: 'Type',
    width: '152px',
    render: ({ id, type }) => (
      <Place to="/artifacts/$id" params={{ id }}>
        {type}
      </Place>
    ),
  },
  {
    id: 'payload',
    title: 'Payload',
    width: 'minmax(0, 1fr)',
    from: 440,
    render: ({ payload }) => <JsonLine value={payload} />,
  },
  {
    id: 'producer',
    title: 'Producer',
    width: '128px',
    from: 560,
    render: ({ produced_by: name }) =>
      name === 'external' ? (
        <span className="text-muted">external</span>
      ) : (
        <Place to="/agents/$name" params={{ name }}>
          {name}
        </Place>
      ),
  },
  {
    id: 'correlation',
    title: 'Correlation',
    width: '176px',
    from: 980,
    render: ({ correlation_id: id }) => (
      <IdChip id={id} what="correlation" to={{ to: '/correlations/$id', params: { id } }} />
    ),
  },
  {
    id: 'tags',
    title: 'Tags',
    width: '140px',
    from: 1_120,
    render: ({ tags }) => <span title={tags.join(', ')}>{tags.join(', ')}</span>,
  },
  { id: 'id', title: 'Id', width: '164px', from: 820, render: ({ id }) => <IdChip id={id} what="artifact" /> },
  { id: 'created', title: 'Published', width: '104px', align: 'end', render: ({ created_at: at }) => <Ago at={at} /> },
];

const PAGES: PagesOptions<typeof PATH, Artifact> = {
  rows: (page) => page.items,
  next: ({ items, pagination: { limit } }) => (items.length < limit ? undefined : { after: items.at(-1)!.id }),
};

const queryOf = (value: ArtifactFilters['value']): GetQuery<typeof PATH> => ({ ...value, limit: 50 });

export const prefetch = (search: Search): Promise<void> =>
  prefetchPages(PATH, { query: queryOf(filtersIn(READERS, search)) }, PAGES);

export default function Artifacts(): ReactNode {
  const filters: ArtifactFilters = useFilters(READERS);
  const query = queryOf(filters.value);
  const pages = usePages(PATH, { query }, PAGES);
  const section = useRef<HTMLDivElement>(null);
  const news = useNews({ isNew: (event) => isNew(event, filters.value), restart: pages.restart, within: section });
  const total = pages.first?.pagination.total;
  return (
    <Page
      title="Artifacts"
      about={total === undefined ? 'What is on the board' : countText(total, 'artifact')}
      actions={<CurlButton request={{ path: PATH, params: { query } }} />}
    >
      <ArtifactFilterBar filters={filters} />
      <div className="flex flex-1 flex-col gap-4 xl:min-h-0 xl:flex-row">
        <div ref={section} className="flex min-w-0 flex-1 flex-col">
          <VirtualList
            label="Artifacts"
            columns={COLUMNS}
            pages={pages}
            keyOf={({ id }) => id}
            news={news}
            empty={<NoArtifacts filters={filters} />}
          />
        </div>
        <Summary filters={filters} />
      </div>
    </Page>
  );
}

/** An event does not have the tags and the visibility of its artifact. */
function isNew(event: LiveEvent, filter: ArtifactFilters['value']): boolean | undefined {
  if (event.event_type !== 'artifact_published' || filter.order === 'asc' || filter.to !== '') return false;
  const { type, produced_by, correlation_id, tag, visibility } = filter;
  const isOther =
    (type.length > 0 && !type.includes(event.artifact_type)) ||
    (produced_by.length > 0 && !produced_by.includes(event.produced_by)) ||
    (correlation_id !== '' && correlation_id !== event.correlation_id);
  if (isOther) return false;
  return tag.length > 0 || visibility.length > 0 ? undefined : true;
}

function ArtifactFilterBar({ filters: { value, set, clear, isAny } }: { filters: ArtifactFilters }): ReactNode {
  const types = useTypeNames();
  const agents = useAgents();
  return (
    <FilterBar isAny={isAny} clear={clear}>
      <ListField label="Type" values={value.type} suggestions={types} onChange={(type) => set({ type })} />
      <ListField
        label="Producer"
        values={value.produced_by}
        suggestions={['external', ...agents.map(({ name }) => name)]}
        onChange={(produced_by) => set({ produced_by })}
      />
      <TextField
        label="Correlation"
        value={value.correlation_id}
        onChange={(correlation_id) => set({ correlation_id })}
      />
      <ListField label="Tags" values={value.tag} onChange={(tag) => set({ tag })} />
      <ListField
        label="Visibility"
        values={value.visibility}
        suggestions={KINDS}
        onChange={(visibility) => set({ visibility: kindsIn(visibility) })}
      />
      <TimeField label="From" value={value.from} onChange={(from) => set({ from })} />
      <TimeField label="To" value={value.to} onChange={(to) => set({ to })} />
      <ChoiceField
        label="Order"
        value={value.order}
        choices={[
          { value: 'desc', text: 'newest first' },
          { value: 'asc', text: 'oldest first' },
        ]}
        onChange={(order) => set({ order })}
      />
    </FilterBar>
  );
}

function NoArtifacts({ filters: { isAny, clear } }: { filters: ArtifactFilters }): ReactNode {
  if (isAny) return <NoMatch icon="artifact" of="artifact" clear={clear} />;
  return (
    <Empty icon="artifact" title="The board is empty">
      An artifact appears here when a client publishes one. <Place to="/publish">Publish an example</Place>
    </Empty>
  );
}

const FACETS = [
  { title: 'Types', field: 'type', counts: 'by_type' },
  { title: 'Producers', field: 'produced_by', counts: 'by_producer' },
  { title: 'Visibility', field: 'visibility', counts: 'by_visibility' },
  { title: 'Tags', field: 'tag', counts: 'by_tag' },
] as const;

const MOST_VALUES = 12;

/** Counts of what the filters leave; a click on a value adds it to the filters. */
function Summary({ filters: { value, set } }: { filters: ArtifactFilters }): ReactNode {
  const query = { ...value, order: undefined };
  const { data, error, refetch } = useApi(
    '/api/v1/artifacts/summary',
    { query },
    {
      live: ({ event_type }) => event_type === 'artifact_published',
      everyMs: 2_000,
    },
  );
  return (
    <aside aria-label="Summary" className="card flex shrink-0 flex-col gap-4 overflow-auto p-3 xl:w-64">
      {data === undefined &&
        (error ? <FailureLine error={error} retry={() => void refetch()} /> : <LoadingRows count={8} />)}
      {FACETS.map(({ title, field, counts }) => {
        const rows = Object.entries(data?.summary[counts] ?? {}).sort(([, one], [, other]) => other - one);
        if (rows.length === 0) return null;
        return (
          <section key={field}>
            <h2 className="pb-1 text-label text-muted">{title}</h2>
            <ul>
              {rows.slice(0, MOST_VALUES).map(([name, count]) => (
                <li key={name}>
                  <button
                    type="button"
                    disabled={value[field].some((one) => one === name)}
                    onClick={() => set({ [field]: [...value[field], name] })}
                    className="flex h-7 w-full items-center justify-between gap-2 rounded-md px-1 text-table enabled:hover:bg-raised disabled:font-strong"
                  >
                    <span className="truncate">{name}</span>
                    <span className="text-muted tabular-nums">{numberText(count)}</span>
                  </button>
                </li>
              ))}
            </ul>
            {rows.length > MOST_VALUES && (
              <p className="px-1 text-label text-muted">and {countText(rows.length - MOST_VALUES, 'more', 'more')}</p>
            )}
          </section>
        );
      })}
    </aside>
  );
}
