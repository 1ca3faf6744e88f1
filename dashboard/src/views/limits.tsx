import { type ReactNode, useRef } from 'react';

import { type Pages, usePages } from '../api/queries';
import type { Schemas } from '../api/requests';
import { choice, type Filters, text, useFilters } from '../app/filters';
import { CurlButton } from '../components/copy';
import { ChoiceField, FilterBar, TextField } from '../components/fields';
import { Page } from '../components/page';
import { PanelButton } from '../components/panel-button';
import { WithPanel } from '../components/side-panel';
import { Empty, NoMatch } from '../components/states';
import { Ago } from '../components/time';
import { useFreshRows } from '../components/use-fresh-rows';
import { type Column, VirtualList } from '../components/virtual-list';
import { LimitPanel } from './limits/limit-panel';
import { countedText, type Limit, MOST_WAITING, usedText, valuesText } from './limits/limit-text';

const PATH = '/api/v1/limits';

const READERS = { name: text, show: choice('', 'waiting', 'changed') };

type LimitFilters = Filters<{ name: string; show: '' | 'waiting' | 'changed' }>;

const rowsOf = ({ items }: Schemas['LimitListBody']): Limit[] => items;

const keyOf = ({ name }: Limit): string => name;

export default function Limits(): ReactNode {
  const filters: LimitFilters = useFilters(READERS);
  const { value: chosen, set: choose } = useFilters({ limit: text });
  const section = useRef<HTMLDivElement>(null);
  const read = usePages(PATH, {}, { rows: rowsOf, next: () => undefined });
  const { pages, news } = useFreshRows(PATH, {}, { pages: read, rows: rowsOf, keyOf, within: section });
  const shown: Pages<typeof PATH, Limit> = { ...pages, rows: pages.rows.filter(matcher(filters.value)) };
  return (
    <Page
      title="Limits"
      about="What agents share: executions at the same time, and attempts in a time"
      actions={<CurlButton request={{ path: PATH }} />}
    >
      <LimitFilterBar filters={filters} />
      <WithPanel>
        <div ref={section} className="flex min-h-80 min-w-0 flex-1 flex-col">
          <VirtualList
            label="Limits"
            columns={columnsFor((limit) => choose({ limit }), chosen.limit)}
            pages={shown}
            keyOf={keyOf}
            news={news}
            empty={<NoLimits filters={filters} />}
          />
        </div>
        {chosen.limit !== '' && (
          <LimitPanel
            key={chosen.limit}
            name={chosen.limit}
            close={() => choose({ limit: '' })}
            changed={() => void read.restart()}
          />
        )}
      </WithPanel>
    </Page>
  );
}

function matcher({ name, show }: LimitFilters['value']): (limit: Limit) => boolean {
  const wanted = name.toLowerCase();
  return (limit) =>
    limit.name.toLowerCase().includes(wanted) &&
    (show === '' || (show === 'waiting' ? limit.waiting > 0 : limit.set_at !== null));
}

const columnsFor = (choose: (name: string) => void, chosen: string): Column<Limit>[] => [
  {
    id: 'name',
    title: 'Limit',
    width: 'minmax(96px, 1fr)',
    render: ({ name }) => (
      <PanelButton id={name} chosen={chosen} choose={choose}>
        {name}
      </PanelButton>
    ),
  },
  {
    id: 'values',
    title: 'Allows',
    width: 'minmax(0, 1.5fr)',
    from: 480,
    render: (limit) => <span title={valuesText(limit)}>{valuesText(limit)}</span>,
  },
  { id: 'used', title: 'Used', width: '96px', align: 'end', render: usedText },
  {
    id: 'waiting',
    title: 'Waiting',
    width: '88px',
    align: 'end',
    render: ({ waiting }) => (
      <span className={waiting === 0 ? 'text-muted' : 'text-waiting'}>{countedText(waiting, MOST_WAITING)}</span>
    ),
  },
  {
    id: 'longest',
    title: 'Longest since',
    width: '112px',
    from: 640,
    align: 'end',
    render: ({ longest }) => (longest === null ? <None /> : <Ago at={longest.queued_at} />),
  },
  {
    id: 'changed',
    title: 'Changed',
    width: '112px',
    from: 800,
    align: 'end',
    render: ({ set_at }) => (set_at === null ? <None /> : <Ago at={set_at} />),
  },
];

const None = (): ReactNode => <span className="text-muted">–</span>;

function LimitFilterBar({ filters: { value, set, clear, isAny } }: { filters: LimitFilters }): ReactNode {
  return (
    <FilterBar isAny={isAny} clear={clear}>
      <TextField label="Name" type="search" value={value.name} onChange={(name) => set({ name })} />
      <ChoiceField
        label="Shown"
        value={value.show}
        choices={[
          { value: '', text: 'all' },
          { value: 'waiting', text: 'those that work waits for' },
          { value: 'changed', text: 'changed by a client' },
        ]}
        onChange={(show) => set({ show })}
      />
    </FilterBar>
  );
}

function NoLimits({ filters: { isAny, clear } }: { filters: LimitFilters }): ReactNode {
  if (isAny) return <NoMatch icon="limit" of="limit" clear={clear} />;
  return (
    <Empty icon="limit" title="No limit is configured">
      Declare one under <code className="font-mono">limits</code> in the configuration, name it in the{' '}
      <code className="font-mono">limits</code> of an agent, and start the service again.
    </Empty>
  );
}
