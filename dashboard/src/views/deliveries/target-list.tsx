import { type ReactNode, useRef } from 'react';

import { nextByCursor, usePages } from '../../api/queries';
import type { GetQuery, Schemas } from '../../api/requests';
import { choice, type Filters, useFilters } from '../../app/filters';
import { CurlButton, IdChip } from '../../components/copy';
import { ChoiceField, FilterBar } from '../../components/fields';
import { Place } from '../../components/place';
import { StateBadge } from '../../components/state-badge';
import { Empty, NoMatch } from '../../components/states';
import { Ago } from '../../components/time';
import { useFreshRows } from '../../components/use-fresh-rows';
import { type Column, VirtualList } from '../../components/virtual-list';
import { numberText } from '../../formats';
import { Frame } from './frame';

type Target = Schemas['TargetBody'];

const PATH = '/api/v1/webhooks/targets';

/** The API counts no further. */
const MOST_COUNTED = 1_000;

const READERS = { failing: choice('', 'true') };

type TargetFilters = Filters<{ failing: '' | 'true' }>;

const rowsOf = ({ items }: Schemas['TargetListBody']): Target[] => items;

const keyOf = ({ target_id }: Target): string => target_id;

/** Lists the targets of deliveries, the newest first. */
export function TargetList(): ReactNode {
  const filters: TargetFilters = useFilters(READERS);
  const query: GetQuery<typeof PATH> = { failing: filters.value.failing === 'true' ? true : undefined, limit: 50 };
  const section = useRef<HTMLDivElement>(null);
  const read = usePages(PATH, { query }, { rows: rowsOf, next: nextByCursor });
  const { pages, news } = useFreshRows(PATH, { query }, { pages: read, rows: rowsOf, keyOf, within: section });
  return (
    <Frame
      about="Each is one URL with one secret, the newest first"
      actions={<CurlButton request={{ path: PATH, params: { query } }} />}
      filterBar={<TargetFilterBar filters={filters} />}
    >
      <div ref={section} className="flex min-h-80 min-w-0 flex-1 flex-col">
        <VirtualList
          label="Targets"
          columns={COLUMNS}
          pages={pages}
          keyOf={keyOf}
          news={news}
          empty={<NoTargets filters={filters} />}
        />
      </div>
    </Frame>
  );
}

const COLUMNS: Column<Target>[] = [
  {
    id: 'state',
    title: 'State',
    width: '96px',
    render: ({ failing_since }) => <StateBadge state={failing_since === undefined ? 'ok' : 'failing'} />,
  },
  {
    id: 'target',
    title: 'Target',
    width: 'minmax(120px, 1fr)',
    render: ({ target_id, target_origin }) => (
      <Place to="/deliveries" search={{ target_id }}>
        {target_origin}
      </Place>
    ),
  },
  {
    id: 'since',
    title: 'Failing since',
    width: '112px',
    from: 480,
    align: 'end',
    render: ({ failing_since: since }) =>
      since === undefined ? <span className="text-muted">–</span> : <Ago at={since} />,
  },
  {
    id: 'open',
    title: 'Open',
    width: '96px',
    from: 380,
    align: 'end',
    render: ({ open }) => <Count of={open} colour="text-waiting" />,
  },
  {
    id: 'dead',
    title: 'Dead',
    width: '96px',
    from: 560,
    align: 'end',
    render: ({ target_id, dead }) =>
      dead === 0 ? (
        <Count of={dead} colour="text-failed" />
      ) : (
        <Place to="/deliveries" search={{ target_id, state: 'dead' }}>
          <Count of={dead} colour="text-failed" />
        </Place>
      ),
  },
  { id: 'by', title: 'Set by', width: '104px', from: 680, render: ({ set_by }) => set_by },
  { id: 'id', title: 'Id', width: '176px', from: 800, render: ({ target_id: id }) => <IdChip id={id} what="target" /> },
  {
    id: 'created',
    title: 'Created',
    width: '112px',
    from: 900,
    align: 'end',
    render: ({ created_at: at }) => <Ago at={at} />,
  },
];

const Count = ({ of: count, colour }: { of: number; colour: string }): ReactNode => (
  <span className={count === 0 ? 'text-muted' : colour}>
    {numberText(count)}
    {count === MOST_COUNTED && ' or more'}
  </span>
);

function TargetFilterBar({ filters: { value, set, clear, isAny } }: { filters: TargetFilters }): ReactNode {
  return (
    <FilterBar isAny={isAny} clear={clear}>
      <ChoiceField
        label="State"
        value={value.failing}
        choices={[
          { value: '', text: 'any' },
          { value: 'true', text: 'failing' },
        ]}
        onChange={(failing) => set({ failing })}
      />
    </FilterBar>
  );
}

function NoTargets({ filters: { isAny, clear } }: { filters: TargetFilters }): ReactNode {
  if (isAny) return <NoMatch icon="delivery" of="target" clear={clear} />;
  return (
    <Empty icon="delivery" title="No webhook has a target yet">
      Set <code className="font-mono">webhook_url</code>, or publish with a <code className="font-mono">webhook</code>.
    </Empty>
  );
}
