// Sets every filter of every view by its control, in a real browser, and looks for it in the URL and in the request,
// after a reload, and after back and forward.
import type { Locator, Page } from 'playwright-core';

import { eventually } from '../../support/eventually.js';
import { type Content, describeFilledDashboard } from '../content.js';

/** One filter: how a person sets it, and what its control shows then. */
interface Filter {
  /** Its part of the query of the URL. */
  key: string;
  value: string;
  set: (page: Page) => Promise<unknown>;
  isShown: (page: Page) => Promise<boolean>;
}

type Role = 'combobox' | 'textbox' | 'searchbox' | 'spinbutton';

const control = (page: Page, role: Role, name: string): Locator =>
  page.locator('main').getByRole(role, { name, exact: true });

/** A list of options. `option`: the text or the value of one. */
const choose = (name: string, option: string, key: string, value = option): Filter => ({
  key,
  value,
  set: (page) => control(page, 'combobox', name).selectOption(option),
  isShown: async (page) => (await control(page, 'combobox', name).inputValue()) === value,
});

/** A text, which is applied with Enter. */
const type = (name: string, value: string, key: string, role: Role = 'textbox'): Filter => ({
  key,
  value,
  set: async (page) => {
    await control(page, role, name).fill(value);
    await control(page, role, name).press('Enter');
  },
  isShown: async (page) => (await control(page, role, name).inputValue()) === value,
});

/** One of several texts. */
const add = (name: string, value: string, key: string): Filter => ({
  ...type(name, value, key, 'combobox'),
  isShown: (page) => page.getByRole('button', { name: `Remove ${value}`, exact: true }).isVisible(),
});

/** One of the choices that are side by side, or a button that has another name while it is pressed. */
const press = (name: string, key: string, value: string, pressed = name): Filter => ({
  key,
  value,
  set: (page) => page.locator('main').getByRole('button', { name, exact: true }).click(),
  isShown: (page) =>
    page.locator('main').getByRole('button', { name: pressed, exact: true, pressed: true }).isVisible(),
});

/** The title of a column, which sorts. */
const sortBy = (name: string, value: string): Filter => {
  const title = (page: Page): Locator => page.getByRole('columnheader', { name });
  return {
    key: 'sort',
    value,
    set: (page) => title(page).getByRole('button').click(),
    isShown: async (page) => (await title(page).getAttribute('aria-sort')) === 'descending',
  };
};

const CORRELATION = 'order-1/a&b=c?#%+';
const FROM = '2026-01-02';
const TO = '2099-12-31T23:59Z';

const AGENT = choose('Agent', 'packer', 'agent');
const TIMES = [type('From', FROM, 'from'), type('To', TO, 'to')];
const OF_CORRELATION = type('Correlation', CORRELATION, 'correlation_id');

interface Row {
  view: string;
  path: (content: Content) => string;
  filters: (content: Content) => Filter[];
  /** The request that has all these filters, by the same names. */
  asks?: string;
}

const ROWS: Row[] = [
  { view: 'the overview', path: () => '', filters: () => [press('7d', 'window', '7d')], asks: '/api/v1/activity' },
  {
    view: 'correlations',
    path: () => '/correlations',
    filters: () => [
      choose('State', 'failed', 'state'),
      AGENT,
      choose('Type', 'Order', 'type'),
      type('Tag', 'vip & more', 'tag'),
      type('Id begins with', CORRELATION, 'id_prefix'),
      ...TIMES,
      choose('Replays', 'included', 'replay', 'true'),
    ],
    asks: '/api/v1/correlations',
  },
  { view: 'a correlation', path: () => '/correlations/order-1', filters: () => [press('Graph', 'show', 'graph')] },
  {
    view: 'artifacts',
    path: () => '/artifacts',
    filters: () => [
      add('Type', 'Order', 'type'),
      add('Type', 'Parcel', 'type'),
      add('Producer', 'packer', 'produced_by'),
      OF_CORRELATION,
      add('Tags', 'vip & more', 'tag'),
      add('Tags', 'a=b', 'tag'),
      add('Visibility', 'Public', 'visibility'),
      ...TIMES,
      choose('Order', 'oldest first', 'order', 'asc'),
    ],
    asks: '/api/v1/artifacts',
  },
  {
    view: 'an artifact',
    path: ({ artifact }) => `/artifacts/${artifact}`,
    filters: () => [
      type('Find in the payload', 'lamp', 'find', 'searchbox'),
      choose('Subscriptions', 'consumed by (3)', 'show', 'took'),
    ],
  },
  {
    view: 'agents',
    path: () => '/agents',
    filters: () => [
      sortBy('Ended', 'ended'),
      type('Name, type or description', 'pack', 'name', 'searchbox'),
      choose('State', 'not paused', 'state'),
      choose('Counts of', 'the last 7 days', 'window', '7d'),
    ],
  },
  { view: 'an agent', path: () => '/agents/packer', filters: () => [press('JSON', 'as', 'json')] },
  { view: 'the graph', path: () => '/graph', filters: () => [press('Table', 'as', 'table')] },
  {
    view: 'executions',
    path: () => '/executions',
    filters: () => [
      choose('State', 'pending', 'state'),
      AGENT,
      OF_CORRELATION,
      type('Assignee', 'ada', 'assignee'),
      choose('Processes', 'none has the agent', 'without_agent', 'true'),
    ],
    asks: '/api/v1/executions',
  },
  {
    view: 'failures',
    path: () => '/executions',
    filters: () => [
      press('Failures in groups', 'view', 'failures'),
      AGENT,
      type('Error type', 'TypeError', 'error_type'),
      ...TIMES,
    ],
    asks: '/api/v1/executions/failures',
  },
  {
    view: 'what waits',
    path: () => '/waiting',
    filters: () => [choose('Agent', 'joiner', 'agent'), OF_CORRELATION],
    asks: '/api/v1/waiting',
  },
  {
    view: 'limits',
    path: () => '/limits',
    filters: () => [
      type('Name', 'tab', 'name', 'searchbox'),
      choose('Shown', 'changed by a client', 'show', 'changed'),
    ],
  },
  {
    view: 'schedules',
    path: () => '/schedules',
    filters: () => [type('Name', 'year', 'name', 'searchbox'), choose('State', 'active', 'state')],
  },
  {
    view: 'the inbox',
    path: () => '/inbox',
    filters: () => [choose('State', 'claimed', 'state', 'running'), AGENT, type('Assignee', 'ada', 'assignee')],
    asks: '/api/v1/executions',
  },
  {
    view: 'batches',
    path: () => '/batches',
    filters: () => [choose('State', 'failed', 'status'), AGENT, ...TIMES],
    asks: '/api/v1/batches',
  },
  {
    view: 'a batch',
    path: ({ batch }) => `/batches/${batch}`,
    filters: () => [choose('Shown', 'failed', 'results')],
  },
  {
    view: 'a new batch',
    path: () => '/batches/new',
    filters: () => [choose('Agent', 'joiner', 'agent'), choose('Inputs', 'a JSON list', 'source', 'list')],
  },
  {
    view: 'experiments',
    path: () => '/experiments',
    filters: () => [choose('State', 'failed', 'state')],
    asks: '/api/v1/experiments',
  },
  {
    view: 'an experiment',
    path: ({ experiment }) => `/experiments/${experiment}`,
    filters: () => [
      choose('Scorer', 'latency', 'scorer'),
      choose('Left', 'loud', 'left'),
      choose('Right', 'now', 'right'),
      press('All rows', 'show', 'all'),
    ],
  },
  {
    view: 'the changelog',
    path: () => '/changelog',
    filters: () => [
      press('Pause', 'paused', 'true', 'Resume'),
      add('Event', 'artifact_published', 'kind'),
      add('Type', 'Order', 'type'),
      add('Agent or producer', 'external', 'agent'),
      OF_CORRELATION,
    ],
  },
  {
    view: 'deliveries',
    path: () => '/deliveries',
    filters: ({ target }) => [
      choose('State', 'dead', 'state'),
      choose('Target', target, 'target_id'),
      OF_CORRELATION,
      type('Artifact', '01K00000000000000000000000', 'artifact_id'),
    ],
    asks: '/api/v1/webhooks/deliveries',
  },
  {
    view: 'targets of deliveries',
    path: () => '/deliveries',
    filters: () => [press('Targets', 'view', 'targets'), choose('State', 'failing', 'failing', 'true')],
    asks: '/api/v1/webhooks/targets',
  },
  {
    view: 'comparing',
    path: () => '/compare',
    filters: () => [
      press('All pairs', 'show', 'all'),
      type('Left correlation', 'order-1', 'left'),
      type('Right correlation', 'order-1', 'right'),
    ],
  },
  {
    view: 'publishing',
    path: () => '/publish',
    filters: () => [
      choose('Type', 'Parcel', 'type'),
      choose('Answer', 'do not wait', 'wait', 'no'),
      add('Tags', 'vip & more', 'tag'),
      type('Correlation id', CORRELATION, 'correlation_id'),
      choose('Visibility', 'Private', 'visibility'),
      add('Agents that see it', 'joiner', 'agent'),
    ],
  },
];

describeFilledDashboard('the filters of a view', (dashboard) => {
  it.each(ROWS)(
    'are in its URL, and stay over a reload, back and forward: $view',
    async ({ path, filters: of, asks }) => {
      const filters = of(dashboard.content);
      const { page, complaints } = await dashboard.open();
      const address = `${dashboard.app.url}/dashboard${path(dashboard.content)}`;
      await page.goto(address);
      const wanted = new URLSearchParams();
      for (const filter of filters) {
        await filter.set(page);
        wanted.append(filter.key, filter.value);
        await hasQuery(page, wanted);
      }
      const areShown = async (): Promise<void> => {
        await hasQuery(page, wanted);
        for (const { key, value, isShown } of filters)
          await eventually(`the control shows ${key}=${value}`, () => isShown(page));
      };
      await areShown();

      const asked = asks && page.waitForRequest((request) => isAskedFor(new URL(request.url()), asks, wanted));
      await page.reload();
      await asked;
      await areShown();

      const elsewhere = path(dashboard.content) === '/waiting' ? 'Batches' : 'Waiting';
      await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: elsewhere }).click();
      await page.getByRole('heading', { level: 1, name: elsewhere }).waitFor();
      expect(new URL(page.url()).search).toBe('');
      await page.goBack();
      await areShown();
      await page.goForward();
      await page.getByRole('heading', { level: 1, name: elsewhere }).waitFor();
      await page.goBack();
      await areShown();
      expect(complaints).toEqual([]);
    },
  );
});

const sorted = (query: URLSearchParams): string[] => [...query].map(([key, value]) => `${key}=${value}`).sort();

const hasQuery = (page: Page, wanted: URLSearchParams): Promise<void> =>
  eventually(`the URL has ${sorted(wanted).join(' ')}`, () => {
    expect(sorted(new URL(page.url()).searchParams)).toEqual(expect.arrayContaining(sorted(wanted)));
    return true;
  });

/** The query of a view may also say which of its parts is shown, and this does not filter the list. */
function isAskedFor({ pathname, searchParams }: URL, path: string, wanted: URLSearchParams): boolean {
  const filters = sorted(wanted).filter((one) => !one.startsWith('view='));
  return pathname === path && filters.every((one) => sorted(searchParams).includes(one));
}
