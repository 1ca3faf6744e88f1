import { lazy, type ReactNode, Suspense } from 'react';

import { LoadingRows } from '../states';
import type { GraphProps } from './graph';

export type { GraphEdge, GraphNode } from './graph';

const Graph = lazy(() => import('./graph'));

/** A graph. Its library is loaded when the first one is shown. */
export const LazyGraph = (props: GraphProps): ReactNode => (
  <Suspense fallback={<LoadingRows />}>
    <Graph {...props} />
  </Suspense>
);
