import { type ReactNode, useMemo } from 'react';

import { type GraphNode, LazyGraph } from '../../components/graph/lazy-graph';
import { nodeWidth } from '../../components/graph/node-width';
import { Icon } from '../../components/icon';
import { StateIcon } from '../../components/state-badge';
import { countText, numberText } from '../../formats';
import { shownState, type TimelineRow, type TracedArtifact } from './rows';
import { TableOfTrace } from './table-of-trace';
import { nameOf, type TraceGraph, traceGraph, type TraceNode } from './trace-graph';

export interface GraphOfTraceProps {
  rows: readonly TimelineRow[];
  artifacts: ReadonlyMap<string, TracedArtifact>;
  selected: string;
  select: (id: string) => void;
  as: 'graph' | 'table';
}

/** Which artifact led to which execution. */
export function GraphOfTrace({ rows, artifacts, selected, select, as }: GraphOfTraceProps): ReactNode {
  const graph = useMemo(() => traceGraph(rows, artifacts, selected), [rows, artifacts, selected]);
  const names = new Map(graph.nodes.map((node) => [node.id, nameOf(node)]));
  return (
    <>
      {as === 'table' ? (
        <TableOfTrace graph={graph} selected={selected} select={select} />
      ) : (
        <LazyGraph
          label="Artifacts and executions; the table has the same"
          nodes={graph.nodes.map((node) => graphNode(node, node.id === selected, select))}
          edges={graph.edges.map(({ from, to }) => ({ from, to, name: `${names.get(from)} to ${names.get(to)}` }))}
          selected={selected === '' ? undefined : selected}
        />
      )}
      <Limit graph={graph} />
    </>
  );
}

function Limit({ graph: { first, last, executions, hiddenArtifacts } }: { graph: TraceGraph }): ReactNode {
  const isPart = last - first + 1 < executions;
  if (!isPart && hiddenArtifacts === 0) return null;
  return (
    <p className="text-label text-muted">
      {isPart && (
        <>
          The graph shows executions {numberText(first)} to {numberText(last)} of {numberText(executions)}; the timeline
          shows all. Select another one there to see its part.{' '}
        </>
      )}
      {hiddenArtifacts > 0 && <>The graph leaves out {countText(hiddenArtifacts, 'artifact')}.</>}
    </p>
  );
}

const HEIGHT = 32;

function graphNode(node: TraceNode, isSelected: boolean, select: (id: string) => void): GraphNode {
  const name = nameOf(node);
  const isExecution = node.kind === 'execution';
  return {
    id: node.id,
    width: nodeWidth(name),
    height: HEIGHT,
    content: (
      <button
        type="button"
        aria-pressed={isSelected}
        title={name}
        onClick={() => select(node.id)}
        className={`pointer-events-auto flex size-full items-center justify-center gap-2 border px-2.5 text-table ${isExecution ? 'rounded-md' : 'rounded-full'} ${isSelected ? 'border-accent bg-selected' : `border-line-strong hover:bg-selected ${isExecution ? 'bg-surface' : 'bg-raised'}`}`}
      >
        {isExecution ? (
          <StateIcon state={shownState(node.execution)} />
        ) : (
          <Icon name="artifact" label="artifact" className="text-muted" />
        )}
        <span className="truncate">{name}</span>
      </button>
    ),
  };
}
