import { type ReactNode, useRef } from 'react';

import { nextByOffset, type Pages, usePages } from '../api/queries';
import type { GetQuery, Schemas } from '../api/requests';
import { choice, type Filters, text, useFilters } from '../app/filters';
import { CurlButton } from '../components/copy';
import { ChoiceField, FilterBar, TextField } from '../components/fields';
import { Page } from '../components/page';
import { PanelButton } from '../components/panel-button';
import { WithPanel } from '../components/side-panel';
import { StateBadge } from '../components/state-badge';
import { Empty, NoMatch } from '../components/states';
import { Ago } from '../components/time';
import { useFreshRows } from '../components/use-fresh-rows';
import { type Column, VirtualList } from '../components/virtual-list';
import { SchedulePanel } from './schedules/schedule-panel';
import { type Schedule, stateOf, timesText } from './schedules/schedule-text';

const PATH = '/api/v1/schedules';

const STATES = ['', 'active', 'paused', 'ended'] as const;

const READERS = { name: text, state: choice(...STATES) };

type ScheduleFilters = Filters<{ name: string; state: (typeof STATES)[number] }>;

const rowsOf = ({ items }: Schemas['ScheduleListBody']): Schedule[] => items;

const keyOf = ({ name }: Schedule): string => name;

export default function Schedules(): ReactNode {
  const filters: ScheduleFilters = useFilters(READERS);
  const { value: chosen, set: choose } = useFilters({ schedule: text });
  const query: GetQuery<typeof PATH> = { limit: 100 };
  const section = useRef<HTMLDivElement>(null);
  const read = usePages(PATH, { query }, { rows: rowsOf, next: nextByOffset });
  const { pages, news } = useFreshRows(PATH, { query }, { pages: read, rows: rowsOf, keyOf, within: section });
  const shown: Pages<typeof PATH, Schedule> = { ...pages, rows: pages.rows.filter(matcher(filters.value)) };
  return (
    <Page
      title="Schedules"
      about="Each publishes an artifact at each of its times"
      actions={<CurlButton request={{ path: PATH, params: { query } }} />}
    >
      <ScheduleFilterBar filters={filters} />
      <WithPanel>
        <div ref={section} className="flex min-h-80 min-w-0 flex-1 flex-col">
          <VirtualList
            label="Schedules"
            columns={columnsFor((schedule) => choose({ schedule }), chosen.schedule)}
            pages={shown}
            keyOf={keyOf}
            news={news}
            empty={<NoSchedules filters={filters} />}
          />
        </div>
        {chosen.schedule !== '' && (
          <SchedulePanel
            key={chosen.schedule}
            name={chosen.schedule}
            close={() => choose({ schedule: '' })}
            changed={() => void read.restart()}
          />
        )}
      </WithPanel>
    </Page>
  );
}

function matcher({ name, state }: ScheduleFilters['value']): (schedule: Schedule) => boolean {
  const wanted = name.toLowerCase();
  return (schedule) => schedule.name.toLowerCase().includes(wanted) && (state === '' || stateOf(schedule) === state);
}

const columnsFor = (choose: (name: string) => void, chosen: string): Column<Schedule>[] => [
  { id: 'state', title: 'State', width: '96px', from: 400, render: (row) => <StateBadge state={stateOf(row)} /> },
  {
    id: 'name',
    title: 'Schedule',
    width: 'minmax(96px, 1fr)',
    render: ({ name }) => (
      <PanelButton id={name} chosen={chosen} choose={choose}>
        {name}
      </PanelButton>
    ),
  },
  {
    id: 'times',
    title: 'Times',
    width: 'minmax(0, 1.5fr)',
    from: 640,
    render: (row) => <span title={timesText(row)}>{timesText(row)}</span>,
  },
  {
    id: 'next',
    title: 'Next tick',
    width: '104px',
    align: 'end',
    render: ({ next }) => (next === undefined ? <None /> : <Ago at={next.scheduled_for} />),
  },
  {
    id: 'last',
    title: 'Last tick',
    width: '112px',
    from: 520,
    align: 'end',
    render: ({ last }) => (last === undefined ? <None /> : <Ago at={last.scheduled_for} />),
  },
  {
    id: 'result',
    title: 'Result',
    width: '116px',
    from: 760,
    render: ({ last }) =>
      last === undefined ? (
        <None />
      ) : (
        <span title={last.reason ?? undefined}>
          <StateBadge state={last.state} />
        </span>
      ),
  },
  {
    id: 'source',
    title: 'From',
    width: '64px',
    from: 900,
    render: ({ source }) => (source === 'file' ? 'file' : 'API'),
  },
];

const None = (): ReactNode => <span className="text-muted">–</span>;

function ScheduleFilterBar({ filters: { value, set, clear, isAny } }: { filters: ScheduleFilters }): ReactNode {
  return (
    <FilterBar isAny={isAny} clear={clear}>
      <TextField label="Name" type="search" value={value.name} onChange={(name) => set({ name })} />
      <ChoiceField
        label="State"
        value={value.state}
        choices={STATES.map((state) => ({ value: state, text: state === '' ? 'any' : state }))}
        onChange={(state) => set({ state })}
      />
    </FilterBar>
  );
}

function NoSchedules({ filters: { isAny, clear } }: { filters: ScheduleFilters }): ReactNode {
  if (isAny) return <NoMatch icon="schedule" of="schedule" clear={clear} />;
  return (
    <Empty icon="schedule" title="No schedules yet">
      Declare one under <code className="font-mono">schedules</code> in the configuration, or create one with{' '}
      <code className="font-mono">POST /api/v1/schedules</code>.
    </Empty>
  );
}
