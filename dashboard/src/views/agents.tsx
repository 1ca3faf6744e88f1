import { type ReactNode, useState } from 'react';

import { useApi, usePages } from '../api/queries';
import type { Schemas } from '../api/requests';
import { choice, type Filters, text, useFilters } from '../app/filters';
import { CurlButton } from '../components/copy';
import { ChoiceField, FilterBar, TextField } from '../components/fields';
import { Page } from '../components/page';
import { PauseDialog } from '../components/pause-dialog';
import { Empty, NoMatch } from '../components/states';
import { VirtualList } from '../components/virtual-list';
import { countText, numberText } from '../formats';
import type { LiveEvent } from '../live/messages';
import { useLiveEvents, useLiveRefresh } from '../live/use-live';
import { columnsOf } from './agents/columns';
import { inOrder } from './agents/order';

type Agent = Schemas['AgentBody'];

const PATH = '/api/v1/agents';

const READERS = {
  name: text,
  state: choice('all', 'paused', 'not paused'),
  window: choice('1h', '24h', '7d'),
};

const ORDER_READERS = { sort: text, order: choice('desc', 'asc') };

type Window = '1h' | '24h' | '7d';

type AgentFilters = Filters<{ name: string; state: 'all' | 'paused' | 'not paused'; window: Window }>;

/** The view shows no steps, so it asks for few. */
const STEPS = { '1h': '15m', '24h': '6h', '7d': '1d' } as const;

const EVERY_MS = 10_000;
const REFRESH_MS = 2_000;

export default function Agents(): ReactNode {
  const filters: AgentFilters = useFilters(READERS);
  const sorting = useFilters(ORDER_READERS);
  const { sort, order } = sorting.value;
  const [asked, setAsked] = useState<Agent>();
  const isShown = matcher(filters.value);
  const processes = useApi('/api/v1/processes', {}, { pollMs: EVERY_MS }).data?.processes;
  const { window } = filters.value;
  const query = { window, step: STEPS[window] };
  const activity = useApi('/api/v1/activity', { query }, { pollMs: EVERY_MS }).data;
  const done = new Map(activity?.agents.map((one) => [one.agent, one]));
  const pages = usePages(
    PATH,
    {},
    {
      rows: ({ agents }) => inOrder(agents.filter(isShown), sorting.value, done),
      next: () => undefined,
      // The service may answer with the number of waiting executions before the last event.
      pollMs: EVERY_MS,
    },
  );
  useLiveRefresh(() => void pages.refresh(), changesCounts, REFRESH_MS);
  useLiveEvents((_events, resync) => resync && void pages.refresh());
  const all = pages.first?.agents;
  return (
    <Page
      title="Agents"
      about={all === undefined ? 'What is configured' : aboutText(all)}
      actions={<CurlButton request={{ path: PATH }} />}
    >
      <AgentFilterBar filters={filters} />
      <VirtualList
        label="Agents"
        columns={columnsOf(processes, done, setAsked)}
        pages={pages}
        sort={{ by: sort, order, change: (by, next) => sorting.set({ sort: by, order: next }) }}
        keyOf={({ name }) => name}
        empty={<NoAgents filters={filters} />}
      />
      <PauseDialog agent={asked} onClose={() => setAsked(undefined)} />
    </Page>
  );
}

function matcher({ name, state }: AgentFilters['value']): (agent: Agent) => boolean {
  const wanted = name.toLowerCase();
  return (agent) =>
    (state === 'all' || agent.paused === (state === 'paused')) &&
    [agent.name, agent.description, ...agent.outputs, ...agent.subscriptions.flatMap(({ types }) => types)].some(
      (one) => one.toLowerCase().includes(wanted),
    );
}

function aboutText(agents: readonly Agent[]): string {
  const paused = agents.filter((agent) => agent.paused).length;
  return `${countText(agents.length, 'agent')}${paused > 0 ? `, ${numberText(paused)} paused` : ''}`;
}

/** The events that change how many executions wait. A published artifact creates those of its consumers. */
const changesCounts = ({ event_type }: LiveEvent): boolean => event_type !== 'execution_output';

function AgentFilterBar({ filters: { value, set, clear, isAny } }: { filters: AgentFilters }): ReactNode {
  return (
    <FilterBar isAny={isAny} clear={clear}>
      <TextField
        label="Name, type or description"
        type="search"
        value={value.name}
        onChange={(name) => set({ name })}
      />
      <ChoiceField
        label="State"
        value={value.state}
        choices={[
          { value: 'all', text: 'all' },
          { value: 'paused', text: 'paused' },
          { value: 'not paused', text: 'not paused' },
        ]}
        onChange={(state) => set({ state })}
      />
      <ChoiceField
        label="Counts of"
        value={value.window}
        choices={[
          { value: '1h', text: 'the last hour' },
          { value: '24h', text: 'the last 24 hours' },
          { value: '7d', text: 'the last 7 days' },
        ]}
        onChange={(next) => set({ window: next })}
      />
    </FilterBar>
  );
}

function NoAgents({ filters: { isAny, clear } }: { filters: AgentFilters }): ReactNode {
  if (isAny) return <NoMatch icon="agent" of="agent" clear={clear} />;
  return (
    <Empty icon="agent" title="No agent is configured">
      Declare one under <code className="font-mono">agents</code> in the configuration, and start the service again.
    </Empty>
  );
}
