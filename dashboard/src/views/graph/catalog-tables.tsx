import { Fragment, type ReactNode } from 'react';

import { groupKindOf, triggerText } from '../../agent-text';
import { Place } from '../../components/place';
import { Section } from '../../components/section';
import { StateIcon } from '../../components/state-badge';
import { CELL, ROW, Table } from '../../components/table';
import { numberText } from '../../formats';
import { type Agent, agentsOf, type CatalogNode } from './catalog-graph';
import { failureShare, type Flow, openText } from './flow';

export interface CatalogTablesProps {
  nodes: readonly CatalogNode[];
  flow: Flow;
}

/** The same as the graph has. */
export function CatalogTables({ nodes, flow }: CatalogTablesProps): ReactNode {
  const agents = agentsOf(nodes);
  const types = nodes.flatMap((node) => (node.kind === 'type' ? [node.name] : []));
  return (
    <>
      <Section title="Agents">
        <Table
          label="Agents"
          width="min-w-200"
          columns={['Agent', 'Runs on', 'Open', 'Publishes', 'Ended (1 h)', 'Failed (1 h)']}
          numbers={2}
        >
          {agents.map((agent) => (
            <AgentRow key={agent.name} agent={agent} flow={flow} />
          ))}
        </Table>
      </Section>
      <Section title="Types">
        <Table label="Types" width="min-w-100" columns={['Type', 'Published by', 'Consumed by']}>
          {types.map((type) => (
            <TypeRow key={type} type={type} agents={agents} />
          ))}
        </Table>
      </Section>
    </>
  );
}

function AgentRow({ agent, flow }: { agent: Agent; flow: Flow }): ReactNode {
  const { name, subscriptions, outputs, paused } = agent;
  const activity = flow.activity(name);
  return (
    <tr className={ROW}>
      <th scope="row" className={`${CELL} text-left font-normal`}>
        <span className="inline-flex items-center gap-1.5">
          <AgentLink name={name} />
          {paused && <StateIcon state="paused" />}
        </span>
      </th>
      <td className={CELL}>
        <Lines of={subscriptions.map(triggerText)} />
      </td>
      <td className={`${CELL} whitespace-nowrap`}>
        <Lines
          of={subscriptions.map((subscription, index) => {
            const open = flow.openGroups(name, index);
            const kind = groupKindOf(subscription);
            return kind === undefined ? '–' : open === undefined ? kind : `${kind}, ${openText(open)}`;
          })}
        />
      </td>
      <td className={CELL}>
        <List of={outputs} each={(type) => <TypeLink name={type} />} />
      </td>
      <td className={`${CELL} text-right`}>{numberText(activity?.ends ?? 0)}</td>
      <td className={`${CELL} text-right whitespace-nowrap ${activity?.failures ? 'text-failed' : 'text-muted'}`}>
        {activity?.failures ? `${numberText(activity.failures)} (${failureShare(activity)})` : '0'}
      </td>
    </tr>
  );
}

function TypeRow({ type, agents }: { type: string; agents: readonly Agent[] }): ReactNode {
  const publishing = agents.filter(({ outputs }) => outputs.includes(type));
  const consuming = agents.filter(({ subscriptions }) => subscriptions.some(({ types }) => types.includes(type)));
  const names = (of: readonly Agent[]): ReactNode => (
    <List of={of.map(({ name }) => name)} each={(name) => <AgentLink name={name} />} />
  );
  return (
    <tr className={ROW}>
      <th scope="row" className={`${CELL} text-left font-normal`}>
        <TypeLink name={type} />
      </th>
      <td className={CELL}>{names(publishing)}</td>
      <td className={CELL}>{names(consuming)}</td>
    </tr>
  );
}

const AgentLink = ({ name }: { name: string }): ReactNode => (
  <Place to="/agents/$name" params={{ name }}>
    {name}
  </Place>
);

const TypeLink = ({ name }: { name: string }): ReactNode => (
  <Place to="/artifacts" search={{ type: name }}>
    {name}
  </Place>
);

const Lines = ({ of: lines }: { of: readonly string[] }): ReactNode =>
  lines.map((line, index) => <div key={index}>{line}</div>);

function List({ of: names, each }: { of: readonly string[]; each: (name: string) => ReactNode }): ReactNode {
  if (names.length === 0) return <span className="text-muted">–</span>;
  return names.map((name, index) => (
    <Fragment key={name}>
      {index > 0 && ', '}
      {each(name)}
    </Fragment>
  ));
}
