import { type ReactNode, useRef } from 'react';

import { nextByOffset, useApi, usePages } from '../../api/queries';
import type { GetQuery, Schemas } from '../../api/requests';
import { choice, type Filters, text, useFilters } from '../../app/filters';
import { StateField } from '../../components/choice-filters';
import { CurlButton, IdChip } from '../../components/copy';
import { ChoiceField, FilterBar, TextField } from '../../components/fields';
import { PanelButton } from '../../components/panel-button';
import { WithPanel } from '../../components/side-panel';
import { StateBadge } from '../../components/state-badge';
import { Empty, NoMatch } from '../../components/states';
import { Ago } from '../../components/time';
import { useFreshRows } from '../../components/use-fresh-rows';
import { type Column, VirtualList } from '../../components/virtual-list';
import { shortId } from '../../formats';
import { DeliveryPanel } from './delivery-panel';
import { Frame } from './frame';

type Delivery = Schemas['DeliveryBody'];

const PATH = '/api/v1/webhooks/deliveries';

const STATES = ['', 'waiting', 'pending', 'running', 'delivered', 'dead'] as const;

const READERS = { state: choice(...STATES), target_id: text, correlation_id: text, artifact_id: text };

type DeliveryFilters = Filters<{
  state: (typeof STATES)[number];
  target_id: string;
  correlation_id: string;
  artifact_id: string;
}>;

const rowsOf = ({ items }: Schemas['DeliveryListBody']): Delivery[] => items;

const keyOf = ({ delivery_id }: Delivery): string => delivery_id;

/** All deliveries, the newest first. */
export function DeliveryList(): ReactNode {
  const filters: DeliveryFilters = useFilters(READERS);
  const { value: chosen, set: choose } = useFilters({ delivery: text });
  const { state, ...others } = filters.value;
  const query: GetQuery<typeof PATH> = { ...others, state: state || undefined, limit: 100 };
  const section = useRef<HTMLDivElement>(null);
  const read = usePages(
    PATH,
    { query },
    {
      rows: rowsOf,
      next: nextByOffset,
    },
  );
  const { pages, news } = useFreshRows(PATH, { query }, { pages: read, rows: rowsOf, keyOf, within: section });
  return (
    <Frame
      about="Each tells one webhook target of one artifact, the newest first"
      actions={<CurlButton request={{ path: PATH, params: { query } }} />}
      filterBar={<DeliveryFilterBar filters={filters} />}
    >
      <WithPanel>
        <div ref={section} className="flex min-h-80 min-w-0 flex-1 flex-col">
          <VirtualList
            label="Deliveries"
            columns={columnsFor((delivery) => choose({ delivery }), chosen.delivery)}
            pages={pages}
            keyOf={keyOf}
            news={news}
            empty={<NoDeliveries filters={filters} />}
          />
        </div>
        {chosen.delivery !== '' && (
          <DeliveryPanel
            key={chosen.delivery}
            id={chosen.delivery}
            close={() => choose({ delivery: '' })}
            changed={() => void read.restart()}
          />
        )}
      </WithPanel>
    </Frame>
  );
}

const columnsFor = (choose: (id: string) => void, chosen: string): Column<Delivery>[] => [
  {
    id: 'state',
    title: 'State',
    width: '116px',
    render: ({ state, attempt }) => <StateBadge state={state === 'pending' && attempt > 1 ? 'retrying' : state} />,
  },
  {
    id: 'target',
    title: 'Target',
    width: 'minmax(144px, 3fr)',
    render: ({ delivery_id: id, target_origin }) => (
      <PanelButton id={id} chosen={chosen} choose={choose}>
        {target_origin}
      </PanelButton>
    ),
  },
  {
    id: 'answer',
    title: 'Last answer',
    width: 'minmax(0, 4fr)',
    from: 500,
    render: (delivery) => <Answer {...delivery} />,
  },
  { id: 'attempt', title: 'Attempt', width: '80px', from: 700, align: 'end', render: ({ attempt }) => attempt },
  {
    id: 'correlation',
    title: 'Correlation',
    width: '176px',
    from: 800,
    render: ({ correlation_id: id }) => (
      <IdChip id={id} what="correlation" to={{ to: '/correlations/$id', params: { id } }} />
    ),
  },
  {
    id: 'artifact',
    title: 'Artifact',
    width: '176px',
    from: 1_060,
    render: ({ artifact_id: id }) => <IdChip id={id} what="artifact" to={{ to: '/artifacts/$id', params: { id } }} />,
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

/** Shows what the receiver answered, or when the next attempt is. */
function Answer({ state, last_status, last_error, next_attempt_at }: Delivery): ReactNode {
  if (state === 'delivered') return last_status;
  const next = state === 'pending' && next_attempt_at !== undefined && (
    <span className="text-muted">
      {last_error !== undefined && ', '}next attempt <Ago at={next_attempt_at} />
    </span>
  );
  if (last_error === undefined) return next;
  return (
    <span title={last_error}>
      <span className="text-failed">{last_error}</span>
      {next}
    </span>
  );
}

function DeliveryFilterBar({ filters: { value, set, clear, isAny } }: { filters: DeliveryFilters }): ReactNode {
  const { data } = useApi('/api/v1/webhooks/targets', { query: { limit: 100 } });
  const origins = new Map(data?.items.map(({ target_id, target_origin }) => [target_id, target_origin]));
  const targets = [...new Set(['', value.target_id, ...origins.keys()])];
  const targetText = (id: string): string => (id === '' ? 'any' : `${origins.get(id) ?? ''} ${shortId(id)}`.trim());
  return (
    <FilterBar isAny={isAny} clear={clear}>
      <StateField value={value.state} states={STATES} onChange={(state) => set({ state })} />
      <ChoiceField
        label="Target"
        value={value.target_id}
        choices={targets.map((id) => ({ value: id, text: targetText(id) }))}
        onChange={(target_id) => set({ target_id })}
      />
      <TextField
        label="Correlation"
        value={value.correlation_id}
        onChange={(correlation_id) => set({ correlation_id })}
      />
      <TextField label="Artifact" value={value.artifact_id} onChange={(artifact_id) => set({ artifact_id })} />
    </FilterBar>
  );
}

function NoDeliveries({ filters: { isAny, clear } }: { filters: DeliveryFilters }): ReactNode {
  if (isAny) return <NoMatch icon="delivery" of="delivery" clear={clear} />;
  return (
    <Empty icon="delivery" title="No webhook has been sent yet">
      Publish with <code className="font-mono">{'"webhook": {"url": "https://…"}'}</code> to send the artifacts of one
      correlation, or set <code className="font-mono">webhook_url</code> to send all.
    </Empty>
  );
}
