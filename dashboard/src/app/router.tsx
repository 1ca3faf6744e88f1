import {
  createRootRoute,
  createRoute,
  createRouter,
  type ErrorComponentProps,
  lazyRouteComponent,
  Link,
  redirect,
} from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { APP_BASE } from '../base';
import { Page } from '../components/page';
import { Empty, Failure, LoadingRows } from '../components/states';
import { isRegistered, views } from '../views';
import { parseSearch, type Search, stringifySearch } from './search';
import { Shell } from './shell';

/** Rows that come within this time are drawn together with their view: a view without rows, drawn first, would delay them. */
const MOMENT_MS = 200;

const aMoment = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, MOMENT_MS));

const root = createRootRoute({ component: Shell });

const routes = views.map(({ path, load }) =>
  createRoute({
    getParentRoute: () => root,
    path,
    loader: async ({ location }) => {
      const { prefetch } = await load();
      if (prefetch) await Promise.race([prefetch(location.search as Search), aMoment()]);
    },
    component: lazyRouteComponent(load),
  }),
);

const start = createRoute({
  getParentRoute: () => root,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: views[0]!.path as string });
  },
});

function Missing(): ReactNode {
  return (
    <Page title="Not found">
      <Empty icon="search" title="This view does not exist">
        <Link to={'/' as string} className="link">
          Go to the first view
        </Link>
      </Empty>
    </Page>
  );
}

function Broken({ error, reset }: ErrorComponentProps): ReactNode {
  return (
    <Page title="This view failed">
      <Failure error={error as Error} retry={reset} />
    </Page>
  );
}

/** All state of a view is in its URL. */
export const router = createRouter({
  routeTree: root.addChildren(isRegistered('/') ? routes : [...routes, start]),
  basepath: APP_BASE.pathname,
  parseSearch,
  stringifySearch: (search) => stringifySearch(search),
  defaultPreload: 'intent',
  defaultPendingComponent: () => <LoadingRows />,
  defaultErrorComponent: Broken,
  defaultNotFoundComponent: Missing,
});
