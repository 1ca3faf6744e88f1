/// <reference lib="webworker" />
import { Graph, layout as place } from '@dagrejs/dagre';

import { edgeKey, type Layout, type LayoutAnswer, type LayoutRequest, type Point, type Size } from './layout';

const scope = self as unknown as DedicatedWorkerGlobalScope;

scope.onmessage = ({ data: text }: MessageEvent<string>) => {
  const request = JSON.parse(text) as LayoutRequest;
  const [down, right] = [placed(request, 'TB'), placed(request, 'LR')];
  const layout = scaleOf(down.size, request.box) >= scaleOf(right.size, request.box) ? down : right;
  scope.postMessage({ text, layout } satisfies LayoutAnswer);
};

/** How large the graph can be drawn in the box. Nothing is drawn larger than it is. */
const scaleOf = ({ width, height }: Size, box: Size): number => Math.min(1, box.width / width, box.height / height);

function placed({ nodes, edges }: LayoutRequest, rankdir: 'TB' | 'LR'): Layout {
  const graph = new Graph();
  graph.setGraph({ rankdir, nodesep: rankdir === 'TB' ? 24 : 12, edgesep: 12, ranksep: 28 });
  for (const { id, width, height } of nodes) graph.setNode(id, { width, height });
  for (const { from, to, label } of edges) graph.setEdge(from, to, { ...label, labelpos: 'c' });
  place(graph);
  const { width, height } = graph.graph() as Size;
  const layout: Layout = { nodes: {}, edges: {}, size: { width, height } };
  const [along, across] = rankdir === 'TB' ? (['y', 'x'] as const) : (['x', 'y'] as const);
  const centres = nodes
    .map((node) => ({ ...node, centre: graph.node(node.id) as Point }))
    .sort(({ centre: one }, { centre: other }) => one[along] - other[along] || one[across] - other[across]);
  for (const { id, width, height, centre } of centres)
    layout.nodes[id] = { x: centre.x - width / 2, y: centre.y - height / 2 };
  for (const edge of edges) {
    const { points, x, y } = graph.edge(edge.from, edge.to) as { points: Point[] } & Partial<Point>;
    layout.edges[edgeKey(edge)] = { points, ...(edge.label && { label: { x: x!, y: y! } }) };
  }
  return layout;
}
