import type { ReactNode } from 'react';

import { runningOf, subscriptionText } from '../../agent-text';
import type { Schemas } from '../../api/requests';
import { Place } from '../../components/place';
import { StateBadge } from '../../components/state-badge';
import type { Column } from '../../components/virtual-list';
import { compactNumberText, costText, countText, durationText, numberText, shareText } from '../../formats';

type Agent = Schemas['AgentBody'];
type Activity = Schemas['AgentActivityBody'];

/** `done`: the activity of the agents that had any. */
export function columnsOf(
  processes: readonly Schemas['ProcessBody'][] | undefined,
  done: ReadonlyMap<string, Activity>,
  ask: (agent: Agent) => void,
): Column<Agent>[] {
  const running = ({ name }: Agent): number | undefined => runningOf(name, processes ?? []);
  return [
    {
      id: 'name',
      title: 'Agent',
      width: 'minmax(96px, 1fr)',
      render: ({ name }) => (
        <Place to="/agents/$name" params={{ name }}>
          {name}
        </Place>
      ),
    },
    {
      id: 'state',
      title: 'State',
      width: '124px',
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
      width: 'minmax(0, 1.4fr)',
      from: 520,
      render: ({ subscriptions }) => <Cut text={subscriptions.map(subscriptionText).join('; ')} />,
    },
    {
      id: 'publishes',
      title: 'Publishes',
      width: 'minmax(0, 1.2fr)',
      from: 1_000,
      render: ({ outputs }) => <Cut text={outputs.join(', ')} />,
    },
    {
      id: 'description',
      title: 'Description',
      width: 'minmax(0, 2fr)',
      from: 1_400,
      render: ({ description }) => (
        <span className="text-muted">
          <Cut text={description} />
        </span>
      ),
    },
    {
      id: 'waiting',
      title: 'Waiting',
      width: '84px',
      from: 640,
      align: 'end',
      isSortable: true,
      render: ({ waiting }) => (
        <span className={waiting > 0 ? 'text-waiting' : 'text-muted'}>{numberText(waiting)}</span>
      ),
    },
    {
      id: 'ended',
      title: 'Ended',
      width: '76px',
      from: 720,
      align: 'end',
      isSortable: true,
      render: ({ name }) => numberText(done.get(name)?.ends ?? 0),
    },
    {
      id: 'failed',
      title: 'Failed',
      width: '92px',
      from: 720,
      align: 'end',
      isSortable: true,
      render: ({ name }) => <Failed counts={done.get(name)} />,
    },
    {
      id: 'p50',
      title: 'p50',
      width: '80px',
      from: 880,
      align: 'end',
      isSortable: true,
      render: ({ name }) => <Latency ms={done.get(name)?.duration_ms?.p50} />,
    },
    {
      id: 'p95',
      title: 'p95',
      width: '80px',
      from: 880,
      align: 'end',
      isSortable: true,
      render: ({ name }) => <Latency ms={done.get(name)?.duration_ms?.p95} />,
    },
    {
      id: 'cost',
      title: 'Cost',
      width: '84px',
      from: 960,
      align: 'end',
      isSortable: true,
      render: ({ name }) => <Cost usage={done.get(name)?.usage} />,
    },
    {
      id: 'actions',
      title: 'Actions',
      width: '88px',
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

function Failed({ counts }: { counts: Activity | undefined }): ReactNode {
  if (counts === undefined || counts.failures === 0) return '0';
  return (
    <span className="text-failed">{`${numberText(counts.failures)} (${shareText(counts.failures / counts.ends)})`}</span>
  );
}

const Latency = ({ ms }: { ms: number | undefined }): ReactNode =>
  ms === undefined ? <span className="text-muted">–</span> : durationText(ms);

/** The cost of language models; the number of tokens if they have no price. */
function Cost({ usage }: { usage: Schemas['UsageBody'] | undefined }): ReactNode {
  if (usage === undefined) return <span className="text-muted">–</span>;
  const tokens = usage.input_tokens + usage.output_tokens;
  return (
    <span title={countText(tokens, 'token')}>
      {usage.cost === undefined ? `${compactNumberText(tokens)} tokens` : costText(usage.cost)}
    </span>
  );
}

const Cut = ({ text: value }: { text: string }): ReactNode => <span title={value}>{value}</span>;
