// Opens several tabs of one browser with the web app of the application.
import type { BrowserContext, Page } from 'playwright-core';

import { eventually } from '../../support/eventually.js';
import { describeDashboard, openTab } from '../../support/page-checks.js';

const CONFIG = 'types: { Order: { schema: { type: object, properties: { n: { type: integer } } } } }';

const WITHIN_MS = 30_000;

describeDashboard('tabs of one browser', { config: CONFIG }, (dashboard) => {
  const publish = (n: number, correlation = `order-${n}`): Promise<unknown> =>
    dashboard.app.http
      .post('/api/v1/artifacts')
      .set('X-Correlation-ID', correlation)
      .send({ type: 'Order', payload: { n } })
      .expect(200);

  const streamCount = async (): Promise<number> => {
    const { text } = await dashboard.app.http.get('/metrics').expect(200);
    return Number(/^starling_streams(?:\{.*\})? (\d+)$/m.exec(text)![1]);
  };

  const serviceHasStreams = (count: number): Promise<void> =>
    eventually(`the service has ${count} streams`, async () => (await streamCount()) === count, WITHIN_MS);

  const isLive = (page: Page): Promise<void> => page.getByText('Live', { exact: true }).waitFor();

  const open = async (context: BrowserContext, path = '/artifacts'): Promise<Page> => {
    const { page } = await openTab(context);
    await page.goto(`${dashboard.app.url}/dashboard${path}`);
    await isLive(page);
    return page;
  };

  const newContext = async (): Promise<BrowserContext> => (await dashboard.open()).page.context();

  const rowsOf = (page: Page, n: number) => page.getByRole('row').filter({ hasText: `{"n":${n}}` });

  const shows = async (page: Page, n: number): Promise<void> => {
    await rowsOf(page, n).first().waitFor();
    expect(await rowsOf(page, n).count()).toBe(1);
  };

  beforeEach(() => serviceHasStreams(0));

  it.each([
    { by: 'a SharedWorker', n: 1, script: '' },
    { by: 'a tab that leads', n: 2, script: 'delete window.SharedWorker' },
  ])('share one live connection through $by, and all follow what happens', async ({ n, script }) => {
    const context = await newContext();
    await context.addInitScript(script);
    const tabs = [await open(context), await open(context), await open(context, '/correlations')];
    expect(await streamCount()).toBe(1);
    await publish(n);
    await Promise.all([shows(tabs[0]!, n), shows(tabs[1]!, n)]);
    await tabs[2]!
      .getByRole('row')
      .filter({ hasText: `order-${n}` })
      .waitFor();
    expect(await streamCount()).toBe(1);
    for (const tab of tabs) await tab.close();
    await serviceHasStreams(0);
  });

  it('lose nothing when the tab that leads is closed and another one takes over', async () => {
    const context = await newContext();
    await context.addInitScript('delete window.SharedWorker');
    const leader = await open(context);
    // Another tab is first in the queue for the lead, and hidden; it connects for those that are visible.
    await setHidden(await open(context), true);
    const tab = await open(context);
    await context.route('**/changelog/stream*', async (route) => {
      await publish(101);
      await route.continue();
    });
    await leader.close();
    await shows(tab, 101);
    await isLive(tab);
    await publish(102);
    await shows(tab, 102);
    expect(await streamCount()).toBe(1);
  });

  it('show what is published between the answer to the first request and the beginning of the stream', async () => {
    const { page } = await dashboard.open();
    await page.addInitScript('delete window.SharedWorker');
    await page.route('**/changelog/stream*', async (route) => {
      await page.getByText(/\d artifacts?$/).waitFor();
      await publish(201);
      await route.continue();
    });
    await page.goto(`${dashboard.app.url}/dashboard/artifacts`);
    await isLive(page);
    await shows(page, 201);
  });

  it('ask for nothing while they are hidden, and show what has changed when they are shown again', async () => {
    const context = await newContext();
    await context.addInitScript(COUNT_REQUESTS);
    const { page: tab } = await openTab(context);
    await tab.clock.install();
    await tab.goto(`${dashboard.app.url}/dashboard`);
    await isLive(tab);
    const other = await open(context);
    const requests = (): Promise<number> => tab.evaluate('window.requests');

    const first = await requests();
    await tab.clock.fastForward(60_000);
    await eventually('a visible overview asks by itself', async () => (await requests()) > first, WITHIN_MS);

    await setHidden(tab, true);
    const before = await requests();
    await publish(301, 'while-hidden');
    await shows(other, 301);
    await tab.clock.fastForward(60_000);
    await publish(302, 'hidden-longer');
    await shows(other, 302);
    expect(await requests()).toBe(before);

    await setHidden(other, true);
    await serviceHasStreams(0);

    await setHidden(tab, false);
    for (const id of ['while-hidden', 'hidden-longer'])
      await tab.getByRole('listitem').filter({ hasText: id }).waitFor();
    await serviceHasStreams(1);
  });
});

const COUNT_REQUESTS = `
window.requests = 0;
const { fetch } = window;
window.fetch = (...request) => {
  window.requests += 1;
  return fetch(...request);
};`;

/** A headless browser shows all its tabs, so this makes the tab report itself as hidden. */
const setHidden = (page: Page, isHidden: boolean): Promise<unknown> =>
  page.evaluate(`
    Object.defineProperties(document, {
      hidden: { configurable: true, value: ${isHidden} },
      visibilityState: { configurable: true, value: '${isHidden ? 'hidden' : 'visible'}' },
    });
    document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));`);
