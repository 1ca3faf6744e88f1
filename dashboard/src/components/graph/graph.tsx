import '@xyflow/react/dist/base.css';

import {
  type Edge,
  Handle,
  type Node,
  type NodeProps,
  Position,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
  type Viewport,
} from '@xyflow/react';
import {
  type FocusEvent,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from 'react';

import { Failure, LoadingRows } from '../states';
import { edgeKey, type Layout, type LayoutEdge, type LayoutNode, type Size, useLayout } from './layout';
import { Line, type LineData } from './line';
import { ZoomButtons } from './zoom-buttons';

export interface GraphNode extends LayoutNode {
  /** It fills the node. It takes the focus and clicks by itself, if it does. */
  content: ReactNode;
}

export interface GraphEdge extends LayoutEdge {
  /** For screen readers. */
  name: string;
  text?: ReactNode;
  hasFailed?: boolean;
}

export interface GraphProps {
  /** The description of the graph for screen readers. */
  label: string;
  nodes: readonly GraphNode[];
  edges: readonly GraphEdge[];
  /** The id of the node that is kept in sight. */
  selected?: string;
}

/** Nodes and edges, which can be moved and zoomed. Keys: arrows, + and -, and 0 for all of it. */
export default function Graph(props: GraphProps): ReactNode {
  const { nodes, edges } = props;
  const element = useRef<HTMLDivElement>(null);
  const [box, setBox] = useState<Size>();
  useLayoutEffect(() => {
    const { clientWidth: width, clientHeight: height } = element.current!;
    setBox({ width, height });
  }, []);
  const { layout, error } = useLayout(
    box && {
      nodes: nodes.map(({ id, width, height }) => ({ id, width, height })),
      edges: edges.map(({ from, to, label }) => ({ from, to, label })),
      box,
    },
  );
  return (
    <div ref={element} className="card relative min-h-80 flex-1 basis-0 overflow-hidden">
      {error ? (
        <Failure error={error} />
      ) : layout === undefined ? (
        <LoadingRows />
      ) : (
        <ReactFlowProvider>
          <Flow {...props} layout={layout} />
        </ReactFlowProvider>
      )}
    </div>
  );
}

type FlowNode = Node<{ content: ReactNode }>;
type FlowEdge = Edge<LineData>;

const NODE_TYPES = { content: Content };
const EDGE_TYPES = { line: Line };

/** Lines follow the layout, but xyflow draws none between nodes without handles. */
function Content({ data }: NodeProps<FlowNode>): ReactNode {
  return (
    <>
      {data.content}
      <Handle type="source" position={Position.Bottom} isConnectable={false} className="invisible" />
      <Handle type="target" position={Position.Top} isConnectable={false} className="invisible" />
    </>
  );
}

const FIT = { padding: 0.06, minZoom: 0.1, maxZoom: 1 };
const LARGEST = 1.5;

/** At this scale, texts can be read and nodes are high enough to be clicked. */
const READABLE = 0.8;
const SPACE = 16;

/** All of the graph if that can be read, else the surroundings of its first node. */
function firstView({ size, nodes }: Layout, { clientWidth, clientHeight }: HTMLElement): Viewport {
  const fitting = Math.min(1, (clientWidth - 2 * SPACE) / size.width, (clientHeight - 2 * SPACE) / size.height);
  const zoom = Math.max(READABLE, fitting);
  const first = Object.values(nodes)[0] ?? { x: 0, y: 0 };
  const offset = (length: number, room: number, at: number): number => {
    if (length * zoom <= room) return (room - length * zoom) / 2;
    return Math.min(SPACE, Math.max(room - SPACE - length * zoom, room / 2 - at * zoom));
  };
  return { zoom, x: offset(size.width, clientWidth, first.x), y: offset(size.height, clientHeight, first.y) };
}

/** How far an arrow key moves the graph, in px. */
const STEP = 80;

const ARROWS: Record<string, { x: number; y: number }> = {
  ArrowLeft: { x: STEP, y: 0 },
  ArrowRight: { x: -STEP, y: 0 },
  ArrowUp: { x: 0, y: STEP },
  ArrowDown: { x: 0, y: -STEP },
};

function Flow({ label, nodes, edges, selected, layout }: GraphProps & { layout: Layout }): ReactNode {
  const element = useRef<HTMLDivElement>(null);
  const isMoved = useRef(false);
  const flow = useReactFlow();
  const fit = (): void => {
    isMoved.current = false;
    void flow.fitView(FIT);
  };
  useEffect(() => {
    if (!isMoved.current) void flow.setViewport(firstView(layout, element.current!));
  }, [flow, layout]);

  const show = (id: string): void => {
    const node = flow.getNode(id);
    if (node === undefined || isInSight(element.current!, nodeElement(element.current!, id))) return;
    isMoved.current = true;
    const { x, y } = node.position;
    void flow.setCenter(x + node.width! / 2, y + node.height! / 2, { zoom: flow.getZoom() });
  };
  const latestShow = useRef(show);
  useEffect(() => {
    latestShow.current = show;
  });
  useEffect(() => {
    if (selected !== undefined) latestShow.current(selected);
  }, [selected, layout]);

  const zoom = (step: 'in' | 'out'): void => {
    isMoved.current = true;
    void (step === 'in' ? flow.zoomIn() : flow.zoomOut());
  };
  const keyDown = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const by = ARROWS[event.key];
    if (event.key === '+' || event.key === '=') zoom('in');
    else if (event.key === '-') zoom('out');
    else if (event.key === '0') fit();
    else if (by !== undefined) {
      isMoved.current = true;
      const { x, y, zoom: scale } = flow.getViewport();
      void flow.setViewport({ x: x + by.x, y: y + by.y, zoom: scale });
    } else return;
    event.preventDefault();
  };
  const focus = ({ target }: FocusEvent): void => {
    const id = target.closest('.react-flow__node')?.getAttribute('data-id');
    if (id != null && target.matches(':focus-visible')) show(id);
  };

  return (
    <>
      <ZoomButtons zoom={zoom} fit={fit} />
      <ReactFlow
        ref={element}
        aria-label={label}
        tabIndex={0}
        onKeyDown={keyDown}
        onFocus={focus}
        // Otherwise the browser would drag a link instead of the graph.
        onDragStart={(event) => event.preventDefault()}
        onMoveStart={(event) => {
          if (event !== null) isMoved.current = true;
        }}
        nodes={nodesAt(nodes, layout)}
        edges={edgesAlong(edges, layout)}
        nodeTypes={NODE_TYPES}
        edgeTypes={EDGE_TYPES}
        minZoom={FIT.minZoom}
        maxZoom={LARGEST}
        panOnScroll
        zoomOnDoubleClick={false}
        nodesDraggable={false}
        nodesConnectable={false}
        nodesFocusable={false}
        edgesFocusable={false}
        elementsSelectable={false}
        disableKeyboardA11y
        deleteKeyCode={null}
        selectionKeyCode={null}
        multiSelectionKeyCode={null}
        panActivationKeyCode={null}
        proOptions={{ hideAttribution: true }}
        className="focus-visible:-outline-offset-2"
      />
    </>
  );
}

/** In the order of the layout, which is that of the keyboard too. A node that has no place yet is left out. */
function nodesAt(nodes: readonly GraphNode[], layout: Layout): FlowNode[] {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  return Object.entries(layout.nodes).flatMap(([id, position]): FlowNode[] => {
    const node = byId.get(id);
    if (node === undefined) return [];
    const { width, height, content } = node;
    return [
      {
        id,
        type: 'content',
        position,
        width,
        height,
        measured: { width, height },
        data: { content },
        domAttributes: { 'aria-roledescription': undefined },
      },
    ];
  });
}

function edgesAlong(edges: readonly GraphEdge[], layout: Layout): FlowEdge[] {
  return edges.flatMap((edge): FlowEdge[] => {
    const { from, to, name, text, hasFailed = false } = edge;
    const line = layout.edges[edgeKey(edge)];
    if (line === undefined) return [];
    const data = { line, text, hasFailed };
    return [{ id: edgeKey(edge), type: 'line', source: from, target: to, ariaLabel: name, data }];
  });
}

const nodeElement = (element: HTMLElement, id: string): HTMLElement | undefined =>
  [...element.querySelectorAll<HTMLElement>('.react-flow__node')].find((node) => node.dataset.id === id);

function isInSight(element: HTMLElement, node: HTMLElement | undefined): boolean {
  if (node === undefined) return false;
  const [outer, inner] = [element.getBoundingClientRect(), node.getBoundingClientRect()];
  return (
    inner.left >= outer.left && inner.right <= outer.right && inner.top >= outer.top && inner.bottom <= outer.bottom
  );
}
