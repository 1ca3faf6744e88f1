import type { UseQueryResult } from '@tanstack/react-query';
import { type ReactNode, useMemo } from 'react';

import { useApi } from '../api/queries';
import { choice, useFilters } from '../app/filters';
import { CurlButton } from '../components/copy';
import { LazyGraph } from '../components/graph/lazy-graph';
import { Icon, type IconName } from '../components/icon';
import { Page } from '../components/page';
import { Segments } from '../components/segments';
import { Empty, Failure, FailureLine, LoadingRows } from '../components/states';
import { countText } from '../formats';
import { type CatalogGraph, catalogGraph, type CatalogNode } from './graph/catalog-graph';
import { graphEdge, graphNode, GROUP_ICONS } from './graph/catalog-nodes';
import { CatalogTables } from './graph/catalog-tables';
import type { Flow } from './graph/flow';
import { useOpenGroups } from './graph/open-groups';

const AGENTS = '/api/v1/agents';

const READERS = { as: choice('graph', 'table') };

const EVERY_MS = 5_000;
const POLL_MS = 10_000;

/** How data flows through what is configured. */
export default function Graph(): ReactNode {
  const { value, set } = useFilters(READERS);
  const agents = useApi(AGENTS, undefined, { pollMs: POLL_MS });
  const types = useApi('/api/v1/artifact-types');
  const failed = [agents, types].find(({ error }) => error !== null);
  const catalog = useMemo(
    () =>
      agents.data &&
      types.data &&
      catalogGraph(
        types.data.artifact_types.map(({ name }) => name),
        agents.data.agents,
      ),
    [agents.data, types.data],
  );
  return (
    <Page
      title="Graph"
      about={catalog === undefined ? 'How data flows' : aboutText(catalog)}
      actions={
        <>
          <Segments
            label="Show as"
            value={value.as}
            choices={[
              { value: 'graph', text: 'Graph' },
              { value: 'table', text: 'Table' },
            ]}
            onChange={(as) => set({ as })}
          />
          <CurlButton request={{ path: AGENTS }} />
        </>
      }
    >
      {catalog !== undefined ? (
        <Catalog catalog={catalog} as={value.as} />
      ) : failed ? (
        <Failure error={failed.error!} retry={() => void failed.refetch()} />
      ) : (
        <LoadingRows />
      )}
    </Page>
  );
}

const KINDS: [CatalogNode['kind'], string][] = [
  ['type', 'type'],
  ['agent', 'agent'],
  ['join', 'join'],
  ['window', 'batch window'],
];

const aboutText = ({ nodes }: CatalogGraph): string =>
  KINDS.map(([kind, name]) => ({ name, count: nodes.filter((node) => node.kind === kind).length }))
    .filter(({ count }) => count > 0)
    .map(({ name, count }) => countText(count, name))
    .join(', ');

function Catalog({ catalog, as }: { catalog: CatalogGraph; as: 'graph' | 'table' }): ReactNode {
  const { nodes, edges } = catalog;
  const { flow, failed } = useFlow(catalog);
  if (nodes.length === 0)
    return (
      <Empty icon="graph" title="Nothing is configured">
        Declare types and agents under <code className="font-mono">types</code> and{' '}
        <code className="font-mono">agents</code> in the configuration, and start the service again.
      </Empty>
    );
  const failure = failed && <FailureLine error={failed.error!} retry={() => void failed.refetch()} />;
  if (as === 'table')
    return (
      <>
        {failure}
        <CatalogTables nodes={nodes} flow={flow} />
      </>
    );
  return (
    <div className="flex flex-1 flex-col gap-2">
      {failure}
      <Legend />
      <LazyGraph
        label="How data flows; the table has the same"
        nodes={nodes.map((node) => graphNode(node, flow))}
        edges={edges.map((edge) => graphEdge(edge, flow))}
      />
    </div>
  );
}

/** The numbers on the graph, and the request for them that failed. */
function useFlow({ nodes }: CatalogGraph): { flow: Flow; failed: UseQueryResult | undefined } {
  const activity = useApi(
    '/api/v1/activity',
    { query: { window: '1h', step: '15m' } },
    {
      live: ({ event_type }) => event_type.startsWith('execution_') && event_type !== 'execution_output',
      everyMs: EVERY_MS,
      pollMs: POLL_MS,
    },
  );
  const grouping = nodes.flatMap((node) => (node.kind === 'join' || node.kind === 'window' ? [node.agent.name] : []));
  const { openGroups, query: groups } = useOpenGroups([...new Set(grouping)]);
  return {
    flow: { openGroups, activity: (name) => activity.data?.agents.find(({ agent }) => agent === name) },
    failed: [activity, groups].find(({ data, error }) => error !== null && data === undefined),
  };
}

const LEGEND: [IconName, string][] = [
  ['artifact', 'type'],
  ['agent', 'agent'],
  [GROUP_ICONS.join, 'join'],
  [GROUP_ICONS.window, 'batch window'],
];

const Legend = (): ReactNode => (
  <ul aria-label="Legend" className="flex flex-wrap items-center gap-x-4 gap-y-1 text-label text-muted">
    {LEGEND.map(([icon, text]) => (
      <li key={text} className="flex items-center gap-1.5">
        <Icon name={icon} />
        {text}
      </li>
    ))}
    <li>Numbers on lines: executions that ended in the last hour, and the share that failed</li>
  </ul>
);
