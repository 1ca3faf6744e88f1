import { type ReactNode, useState } from 'react';

import { runningOf, subscriptionText } from '../agent-text';
import { useApi, usePages } from '../api/queries';
import type { Schemas } from '../api/requests';
import { choice, type Filters, text, useFilters } from '../app/filters';
import { CurlButton } from '../components/copy';
import { ChoiceField, FilterBar, TextField } from '../components/fields';
import { Page } from '../components/page';
import { PauseDialog } from '../components/pause-dialog';
import { Place } from '../components/place';
import { StateBadge } from '../components/state-badge';
import { Empty, NoMatch } from '../components/states';
import { type Column, VirtualList } from '../components/virtual-list';
import { countText, durationText, numberText, shareText } from '../formats';

type Agent = Schemas['AgentBody'];

const PATH = '/api/v1/agents';

const READERS = {
  name: text,
  state: choice('all', 'paused', 'not paused'),
  window: choice('1h', '24h', '7d'),
};

type Window = '1h' | '24h' | '7d';

type AgentFilters = Filters<{ name: string; state: 'all' | 'paused' | 'not paused'; window: Window }>;

/** The view shows no steps, so it asks for few. */
const STEPS = { '1h': '15m', '24h': '6h', '7d': '1d' } as const;

const EVERY_MS = 10_000;

export default function Agents(): ReactNode {
  const filters: AgentFilters = useFilters(READERS);
  const [asked, setAsked] = useState<Agent>();
  const isShown = matcher(filters.value);
  const pages = usePages(PATH, {}, { rows: ({ agents }) => agents.filter(isShown), next: () => undefined });
  const processes = useApi('/api/v1/processes', {}, { pollMs: EVERY_MS }).data?.processes;
  const { window } = filters.value;
  const activity = useApi('/api/v1/activity', { query: { window, step: STEPS[window] } }, { pollMs: EVERY_MS }).data;
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
        columns={columnsOf(processes, activity?.agents ?? [], setAsked)}
        pages={pages}
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

function columnsOf(
  processes: readonly Schemas['ProcessBody'][] | undefined,
  activity: readonly Schemas['AgentActivityBody'][],
  ask: (agent: Agent) => void,
): Column<Agent>[] {
  const running = ({ name }: Agent): number | undefined => runningOf(name, processes ?? []);
  const byName = new Map(activity.map((one) => [one.agent, one]));
  return [
    {
      id: 'name',
      title: 'Agent',
      width: 'minmax(88px, 160px)',
      render: ({ name }) => (
        <Place to="/agents/$name" params={{ name }}>
          {name}
        </Place>
      ),
    },
    {
      id: 'state',
      title: 'State',
      width: '116px',
      from: 400,
      render: (agent) => {
        if (agent.paused) return <StateBadge state="paused" />;
        if (processes === undefined) return null;
        const count = running(agent);
        if (count === undefined) return <span className="text-waiting">on no process</span>;
        return count > 0 ? <Running count={count} /> : <span className="text-muted">idle</span>;
      },
    },
    {
      id: 'takes',
      title: 'Consumes',
      width: 'minmax(0, 1fr)',
      from: 520,
      render: ({ subscriptions }) => <Cut text={subscriptions.map(subscriptionText).join('; ')} />,
    },
    {
      id: 'publishes',
      title: 'Publishes',
      width: 'minmax(0, 1fr)',
      from: 520,
      render: ({ outputs }) => <Cut text={outputs.join(', ')} />,
    },
    {
      id: 'description',
      title: 'Description',
      width: 'minmax(0, 1.5fr)',
      from: 1_100,
      render: ({ description }) => (
        <span className="text-muted">
          <Cut text={description} />
        </span>
      ),
    },
    {
      id: 'ended',
      title: 'Ended',
      width: '72px',
      from: 720,
      align: 'end',
      render: ({ name }) => numberText(byName.get(name)?.ends ?? 0),
    },
    {
      id: 'failed',
      title: 'Failed',
      width: '96px',
      from: 720,
      align: 'end',
      render: ({ name }) => <Failed counts={byName.get(name)} />,
    },
    {
      id: 'duration',
      title: 'p50 / p95',
      width: '136px',
      from: 880,
      align: 'end',
      render: ({ name }) => <Latency of={byName.get(name)?.duration_ms} />,
    },
    {
      id: 'actions',
      title: 'Actions',
      width: '96px',
      align: 'end',
      render: (agent) => {
        const verb = agent.paused ? 'Resume' : 'Pause';
        return (
          <button
            type="button"
            aria-label={`${verb} ${agent.name}`}
            className="h-6 rounded-md border border-line-strong px-2 text-label hover:bg-selected"
            onClick={() => ask(agent)}
          >
            {verb}
          </button>
        );
      },
    },
  ];
}

const Running = ({ count }: { count: number }): ReactNode => (
  <span className="inline-flex items-center gap-1.5">
    <StateBadge state="running" />
    {numberText(count)}
  </span>
);

function Failed({ counts }: { counts: Schemas['AgentActivityBody'] | undefined }): ReactNode {
  if (counts === undefined || counts.failures === 0) return '0';
  return (
    <span className="text-failed">{`${numberText(counts.failures)} (${shareText(counts.failures / counts.ends)})`}</span>
  );
}

function Latency({ of: quantiles }: { of: { p50: number; p95: number } | null | undefined }): ReactNode {
  if (quantiles == null) return <span className="text-muted">none</span>;
  return `${durationText(quantiles.p50)} / ${durationText(quantiles.p95)}`;
}

const Cut = ({ text: value }: { text: string }): ReactNode => <span title={value}>{value}</span>;

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
