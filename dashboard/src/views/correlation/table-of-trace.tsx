import type { ReactNode } from 'react';

import { Icon } from '../../components/icon';
import { StateIcon } from '../../components/state-badge';
import { CELL, ROW, Table } from '../../components/table';
import { shownState } from './rows';
import { nameOf, type TraceGraph, type TraceNode } from './trace-graph';

export interface TableOfTraceProps {
  graph: TraceGraph;
  selected: string;
  select: (id: string) => void;
}

/** The same as the graph has: each execution and each artifact, and what comes before and after it. */
export function TableOfTrace({ graph: { nodes, edges }, selected, select }: TableOfTraceProps): ReactNode {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const links = (ids: string[]): ReactNode => (
    <List nodes={ids.flatMap((id) => byId.get(id) ?? [])} selected={selected} select={select} />
  );
  return (
    <div className="card">
      <Table label="Graph" width="min-w-100" columns={['Node', 'From', 'To']}>
        {nodes.map((node) => (
          <tr key={node.id} className={ROW}>
            <th scope="row" className={`${CELL} text-left font-normal`}>
              <List nodes={[node]} selected={selected} select={select} />
            </th>
            <td className={CELL}>{links(edges.flatMap(({ from, to }) => (to === node.id ? [from] : [])))}</td>
            <td className={CELL}>{links(edges.flatMap(({ from, to }) => (from === node.id ? [to] : [])))}</td>
          </tr>
        ))}
      </Table>
    </div>
  );
}

interface ListProps extends Pick<TableOfTraceProps, 'selected' | 'select'> {
  nodes: readonly TraceNode[];
}

function List({ nodes, selected, select }: ListProps): ReactNode {
  if (nodes.length === 0) return <span className="text-muted">–</span>;
  return (
    <ul className="flex flex-wrap gap-x-3">
      {nodes.map((node) => (
        <li key={node.id}>
          <button
            type="button"
            aria-pressed={node.id === selected}
            onClick={() => select(node.id)}
            className={`inline-flex min-h-6 items-center gap-1.5 rounded-md px-1 text-left wrap-anywhere ${node.id === selected ? 'bg-selected' : 'hover:bg-selected'}`}
          >
            {node.kind === 'execution' ? (
              <StateIcon state={shownState(node.execution)} />
            ) : (
              <Icon name="artifact" label="artifact" className="text-muted" />
            )}
            {nameOf(node)}
          </button>
        </li>
      ))}
    </ul>
  );
}
