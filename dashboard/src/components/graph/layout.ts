import { useEffect, useRef, useState } from 'react';

export interface Size {
  width: number;
  height: number;
}

export interface Point {
  x: number;
  y: number;
}

export interface LayoutNode extends Size {
  id: string;
}

export interface LayoutEdge {
  from: string;
  to: string;
  /** The space for its label. */
  label?: Size;
}

export interface LayoutRequest {
  nodes: readonly LayoutNode[];
  edges: readonly LayoutEdge[];
  /** The graph runs downwards or to the right, whichever is larger in this box. */
  box: Size;
}

export interface LaidOutEdge {
  points: Point[];
  label?: Point;
}

export interface Layout {
  /** The upper left corner of each node by its id, from the beginning of the graph to its end. */
  nodes: Record<string, Point>;
  /** By `edgeKey`. */
  edges: Record<string, LaidOutEdge>;
  size: Size;
}

export const edgeKey = ({ from, to }: Pick<LayoutEdge, 'from' | 'to'>): string => `${from}\n${to}`;

/** The answer of the worker. The text is that of the request. */
export interface LayoutAnswer {
  text: string;
  layout: Layout;
}

interface LayoutState {
  layout?: Layout;
  error?: Error;
}

/** Places nodes and edges in a worker. The last layout stays until the next one is there. */
export function useLayout(request: LayoutRequest | undefined): LayoutState {
  const [state, setState] = useState<LayoutState>({});
  const worker = useRef<Worker>(undefined);
  const newest = useRef<string>(undefined);
  const text = request && JSON.stringify(request);
  useEffect(() => {
    const started = new Worker(new URL('./layout-worker.ts', import.meta.url), { type: 'module' });
    started.onmessage = ({ data }: MessageEvent<LayoutAnswer>) => {
      if (data.text === newest.current) setState({ layout: data.layout });
    };
    started.onerror = () => setState({ error: new Error('The places of the nodes could not be computed.') });
    worker.current = started;
    return () => started.terminate();
  }, []);
  useEffect(() => {
    newest.current = text;
    if (text !== undefined) worker.current?.postMessage(text);
  }, [text]);
  return state;
}
