import { type Edge, EdgeLabelRenderer, type EdgeProps } from '@xyflow/react';
import type { ReactNode } from 'react';

import type { LaidOutEdge, Point } from './layout';

export interface LineData extends Record<string, unknown> {
  line: LaidOutEdge;
  text: ReactNode;
  hasFailed: boolean;
}

/** A line with an arrow head at its end, and a text on it. */
export function Line({ data }: EdgeProps<Edge<LineData>>): ReactNode {
  const { line, text, hasFailed } = data!;
  const { points, label } = line;
  return (
    <>
      <path
        d={curve(points)}
        strokeWidth={1.5}
        className={`fill-none ${hasFailed ? 'stroke-failed' : 'stroke-line-strong'}`}
      />
      <path d={arrowHead(points)} className={hasFailed ? 'fill-failed' : 'fill-line-strong'} />
      {label !== undefined && text !== undefined && (
        <EdgeLabelRenderer>
          <div
            className="absolute rounded-md bg-surface px-1 text-label whitespace-nowrap text-muted tabular-nums"
            style={{ transform: `translate(-50%, -50%) translate(${label.x}px, ${label.y}px)` }}
          >
            {text}
          </div>
        </EdgeLabelRenderer>
      )}
    </>
  );
}

/** Through the middles between the points, so that it has no corners. */
function curve(points: readonly Point[]): string {
  const [first, ...rest] = points;
  const last = rest.at(-1)!;
  const parts = rest.slice(0, -1).map((point, index) => {
    const next = rest[index + 1]!;
    const end = index === rest.length - 2 ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q ${at(point)} ${at(end)}`;
  });
  return `M ${at(first!)} ${parts.length === 0 ? `L ${at(last)}` : parts.join(' ')}`;
}

const LENGTH = 8;
const HALF_WIDTH = 4;

function arrowHead(points: readonly Point[]): string {
  const [before, tip] = [points.at(-2)!, points.at(-1)!];
  const distance = Math.hypot(tip.x - before.x, tip.y - before.y) || 1;
  const [x, y] = [(tip.x - before.x) / distance, (tip.y - before.y) / distance];
  const base = { x: tip.x - x * LENGTH, y: tip.y - y * LENGTH };
  const [one, other] = [1, -1].map((side) => ({
    x: base.x - y * HALF_WIDTH * side,
    y: base.y + x * HALF_WIDTH * side,
  }));
  return `M ${at(tip)} L ${at(one!)} L ${at(other!)} Z`;
}

const at = ({ x, y }: Point): string => `${x.toFixed(1)},${y.toFixed(1)}`;
