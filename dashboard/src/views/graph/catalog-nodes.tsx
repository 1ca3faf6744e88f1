import type { ReactNode } from 'react';

import { triggerText } from '../../agent-text';
import type { GraphEdge, GraphNode } from '../../components/graph/lazy-graph';
import { nodeWidth } from '../../components/graph/node-width';
import { Icon, type IconName } from '../../components/icon';
import { Place, type PlaceProps } from '../../components/place';
import { StateIcon } from '../../components/state-badge';
import { numberText } from '../../formats';
import type { CatalogEdge, CatalogNode } from './catalog-graph';
import { activityText, failureShare, type Flow, openText } from './flow';

const HEIGHT = 36;
/** Reserved for all labels, so that nothing moves when one appears. */
const LABEL = { width: 96, height: 20 };

export function graphNode(node: CatalogNode, flow: Flow): GraphNode {
  const { id } = node;
  switch (node.kind) {
    case 'type':
      return {
        id,
        width: nodeWidth(node.name),
        height: HEIGHT,
        content: <TypeNode name={node.name} />,
      };
    case 'agent':
      return {
        id,
        width: nodeWidth(node.agent.name),
        height: HEIGHT,
        content: <AgentNode node={node} flow={flow} />,
      };
    case 'meeting':
      return { id, width: 8, height: 8, content: <span className="block size-2 rounded-full bg-line-strong" /> };
    default:
      return { id, width: 168, height: HEIGHT, content: <GroupNode node={node} flow={flow} /> };
  }
}

export function graphEdge({ from, to, name, into }: CatalogEdge, flow: Flow): GraphEdge {
  if (into === undefined) return { from, to, name };
  const activity = flow.activity(into);
  const isQuiet = activity === undefined || activity.ends === 0;
  return {
    from,
    to,
    name: `${name}: ${activityText(activity)}`,
    label: LABEL,
    hasFailed: !isQuiet && activity.failures > 0,
    text: isQuiet ? undefined : (
      <>
        {numberText(activity.ends)}
        {activity.failures > 0 && <span className="text-failed"> · {failureShare(activity)} failed</span>}
      </>
    ),
  };
}

interface BoxProps extends Pick<PlaceProps, 'to' | 'params' | 'search'> {
  /** All that is behind the short text. */
  title: string;
  look: string;
  children: ReactNode;
}

function Box({ title, look, children, ...place }: BoxProps): ReactNode {
  return (
    <div title={title} className={`pointer-events-auto size-full border text-table ${look}`}>
      <Place {...place} className="block size-full rounded-[inherit]">
        <span className="flex size-full items-center justify-center gap-2 px-2.5">{children}</span>
      </Place>
    </div>
  );
}

const TypeNode = ({ name }: { name: string }): ReactNode => (
  <Box
    title={name}
    to="/artifacts"
    search={{ type: name }}
    look="rounded-full border-line bg-raised hover:border-line-strong"
  >
    <Icon name="artifact" label="type" className="text-muted" />
    <span className="truncate">{name}</span>
  </Box>
);

interface NodeProps<K extends CatalogNode['kind']> {
  node: Extract<CatalogNode, { kind: K }>;
  flow: Flow;
}

function AgentNode({ node: { agent }, flow }: NodeProps<'agent'>): ReactNode {
  const { name, description, paused } = agent;
  return (
    <Box
      title={[name, description].filter(Boolean).join(': ')}
      to="/agents/$name"
      params={{ name }}
      look={`rounded-md bg-surface font-strong hover:bg-selected ${paused ? 'border-paused' : 'border-line-strong'}`}
    >
      {paused ? <StateIcon state="paused" /> : <Icon name="agent" label="agent" className="text-accent" />}
      <span className="truncate">{name}</span>
      <span className="sr-only">{activityText(flow.activity(name))}</span>
    </Box>
  );
}

export const GROUP_ICONS: Record<'join' | 'window', IconName> = { join: 'join', window: 'batch' };

function GroupNode({ node, flow }: NodeProps<'join' | 'window'>): ReactNode {
  const { kind, agent, index, subscription } = node;
  const open = flow.openGroups(agent.name, index);
  const isOpen = open !== undefined && open.count > 0;
  return (
    <Box
      title={`${kind} of ${agent.name}: ${triggerText(subscription)}`}
      to="/waiting"
      search={{ agent: agent.name }}
      look={`rounded-md border-dashed bg-surface ${isOpen ? 'border-waiting text-waiting' : 'border-line-strong text-muted'}`}
    >
      <Icon name={GROUP_ICONS[kind]} />
      <span className="truncate">
        {kind}
        <span className="sr-only"> of {agent.name}</span>
        {open !== undefined && <>, {openText(open)}</>}
      </span>
    </Box>
  );
}
