import type { ComponentType } from 'react';

import type { Search } from './app/search';
import type { IconName } from './components/icon';

/** The path of each view. A parameter begins with `$`. */
export type ViewPath =
  | '/'
  | '/correlations'
  | '/correlations/$id'
  | '/artifacts'
  | '/artifacts/$id'
  | '/agents'
  | '/agents/$name'
  | '/graph'
  | '/waiting'
  | '/limits'
  | '/schedules'
  | '/executions'
  | '/inbox'
  | '/batches'
  | '/batches/new'
  | '/batches/$id'
  | '/experiments'
  | '/experiments/$id'
  | '/deliveries'
  | '/changelog'
  | '/compare'
  | '/publish';

export interface View {
  path: ViewPath;
  title: string;
  /** The icon in the rail. A view without one is reached from others. */
  icon?: IconName;
  load: () => Promise<LoadedView>;
}

export interface LoadedView {
  default: ComponentType;
  /** Asks for what the view shows first. The view is drawn when it is there, or a moment later. */
  prefetch?: (search: Search) => Promise<void>;
}

/** The views of the app, in the order of the rail. Nothing else registers a view. */
export const views: readonly View[] = [
  { path: '/', title: 'Overview', icon: 'overview', load: () => import('./views/overview') },
  { path: '/correlations', title: 'Correlations', icon: 'correlation', load: () => import('./views/correlations') },
  { path: '/correlations/$id', title: 'Correlation', load: () => import('./views/correlation') },
  { path: '/artifacts', title: 'Artifacts', icon: 'artifact', load: () => import('./views/artifacts') },
  { path: '/artifacts/$id', title: 'Artifact', load: () => import('./views/artifact') },
  { path: '/agents', title: 'Agents', icon: 'agent', load: () => import('./views/agents') },
  { path: '/agents/$name', title: 'Agent', load: () => import('./views/agent') },
  { path: '/graph', title: 'Graph', icon: 'graph', load: () => import('./views/graph') },
  { path: '/executions', title: 'Executions', icon: 'execution', load: () => import('./views/executions') },
  { path: '/waiting', title: 'Waiting', icon: 'waiting', load: () => import('./views/waiting') },
  { path: '/limits', title: 'Limits', icon: 'limit', load: () => import('./views/limits') },
  { path: '/schedules', title: 'Schedules', icon: 'schedule', load: () => import('./views/schedules') },
  { path: '/inbox', title: 'Inbox', icon: 'inbox', load: () => import('./views/inbox') },
  { path: '/batches', title: 'Batches', icon: 'batch', load: () => import('./views/batches') },
  { path: '/batches/new', title: 'Start a batch', load: () => import('./views/new-batch') },
  { path: '/batches/$id', title: 'Batch', load: () => import('./views/batch') },
  { path: '/experiments', title: 'Experiments', icon: 'experiment', load: () => import('./views/experiments') },
  { path: '/experiments/$id', title: 'Experiment', load: () => import('./views/experiment') },
  { path: '/changelog', title: 'Changelog', icon: 'changelog', load: () => import('./views/changelog') },
  { path: '/deliveries', title: 'Deliveries', icon: 'delivery', load: () => import('./views/deliveries') },
  { path: '/compare', title: 'Compare', load: () => import('./views/compare') },
  { path: '/publish', title: 'Publish', icon: 'publish', load: () => import('./views/publish') },
];

const paths = new Set<string>(views.map(({ path }) => path));

export const isRegistered = (path: ViewPath): boolean => paths.has(path);
