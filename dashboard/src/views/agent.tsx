import { useParams } from '@tanstack/react-router';
import { type ReactNode, useState } from 'react';

import { runningOf, triggerText } from '../agent-text';
import { useApi } from '../api/queries';
import type { Schemas } from '../api/requests';
import { CurlButton } from '../components/copy';
import { Facts } from '../components/facts';
import { Page } from '../components/page';
import { PauseDialog } from '../components/pause-dialog';
import { Place } from '../components/place';
import { Section } from '../components/section';
import { StateBadge } from '../components/state-badge';
import { Empty, Failure, LoadingRows } from '../components/states';
import { countText } from '../formats';
import { Executions } from './agent/executions';
import { History } from './agent/history';
import { Options } from './agent/options';
import { RunSection } from './agent/run-section';
import { Variants } from './agent/variants';

type Agent = Schemas['AgentBody'];

export default function AgentView(): ReactNode {
  const { name = '' }: { name?: string } = useParams({ strict: false });
  const { data, error, refetch } = useApi('/api/v1/agents', {});
  const agent = data?.agents.find((one) => one.name === name);
  const body = (): ReactNode => {
    if (error && !data) return <Failure error={error} retry={() => void refetch()} />;
    if (!data) return <LoadingRows />;
    if (!agent)
      return (
        <Empty icon="agent" title={`No agent is called ${name}`}>
          <Place to="/agents">See the agents of the configuration</Place>
        </Empty>
      );
    return <Body agent={agent} />;
  };
  return (
    <Page
      title={
        <span className="flex flex-wrap items-center gap-x-3">
          {name}
          {agent?.paused && <StateBadge state="paused" />}
        </span>
      }
      about={agent?.description}
      actions={
        <>
          {agent && <PauseButton agent={agent} />}
          <CurlButton request={{ path: '/api/v1/agents' }} />
        </>
      }
    >
      {body()}
    </Page>
  );
}

function PauseButton({ agent }: { agent: Agent }): ReactNode {
  const [isAsked, setIsAsked] = useState(false);
  return (
    <>
      <button type="button" className="button" onClick={() => setIsAsked(true)}>
        {agent.paused ? 'Resume' : 'Pause'}
      </button>
      <PauseDialog agent={isAsked ? agent : undefined} onClose={() => setIsAsked(false)} />
    </>
  );
}

function Body({ agent }: { agent: Agent }): ReactNode {
  return (
    <div className="grid items-start gap-4 xl:grid-cols-2">
      <div className="flex min-w-0 flex-col gap-4">
        <Flow agent={agent} />
        <Options agent={agent} />
        {agent.variants && <Variants agent={agent.name} variants={agent.variants} />}
        <RunSection agent={agent} />
      </div>
      <div className="flex min-w-0 flex-col gap-4">
        <Executions agent={agent.name} />
        <Executions agent={agent.name} state="failed" />
        <History agent={agent.name} />
      </div>
    </div>
  );
}

/** Shows what the agent consumes and publishes, and where it runs. */
function Flow({ agent: { name, subscriptions, outputs } }: { agent: Agent }): ReactNode {
  const { data } = useApi('/api/v1/processes', {}, { pollMs: 10_000 });
  return (
    <Section title="Subscriptions and outputs">
      <div className="p-3">
        <Facts
          facts={[
            ['Consumes', <Consumed subscriptions={subscriptions} />],
            ['Publishes', <Published by={name} types={outputs} />],
            ['Runs on', data && runsText(name, data.processes)],
          ]}
        />
      </div>
    </Section>
  );
}

function Consumed({ subscriptions }: Pick<Agent, 'subscriptions'>): ReactNode {
  if (subscriptions.length === 0) return 'nothing; it runs only when it is called';
  return (
    <ol>
      {subscriptions.map((subscription, index) => (
        <li key={index}>{triggerText(subscription)}</li>
      ))}
    </ol>
  );
}

function Published({ by, types }: { by: string; types: readonly string[] }): ReactNode {
  if (types.length === 0) return 'nothing';
  return (
    <span className="flex flex-wrap gap-x-3">
      {types.map((type) => (
        <Place key={type} to="/artifacts" search={{ type, produced_by: by }}>
          {type}
        </Place>
      ))}
    </span>
  );
}

function runsText(name: string, processes: readonly Schemas['ProcessBody'][]): string {
  const running = runningOf(name, processes);
  if (running === undefined) return 'no process; its executions wait';
  const having = processes.filter(({ agents }) => agents.includes(name)).length;
  return `${countText(having, 'process', 'processes')}, with ${countText(running, 'running execution')}`;
}
