// Opens each view of the web app in a real browser while its requests fail, and while the service is away.
import type { BrowserContext, Locator, Page, Route } from 'playwright-core';

import { CuttableProxy } from '../../support/cuttable-proxy.js';
import { eventually } from '../../support/eventually.js';
import { accessibilityFaults, askAgain, openTab } from '../../support/page-checks.js';
import { describeFilledDashboard, REQUESTS, type ShownView, showsContent, VIEWS } from '../content.js';

/** A refusal, which the app does not repeat by itself. */
const DETAIL = 'No space is left: <b>delete</b> something';

const refuse = (route: Route): Promise<void> => route.fulfill({ status: 400, json: { detail: DETAIL } });

/** A request without which a view lacks one of its parts, and where the view says so. */
interface Part {
  view: string;
  request: RegExp;
  where: (page: Page) => Locator;
}

const region = (name: string) => (page: Page) => page.getByRole('region', { name, exact: true });
const aside = (name: string) => (page: Page) => page.getByRole('complementary', { name, exact: true });
const main = (page: Page): Locator => page.locator('main');

const PARTS: Part[] = [
  { view: 'the overview', request: /\/api\/v1\/activity/, where: region('Agents') },
  { view: 'the overview', request: /\/api\/v1\/correlations/, where: region('Newest correlations') },
  { view: 'the overview', request: /\/api\/v1\/executions/, where: region('Newest failures') },
  { view: 'the overview', request: /\/api\/v1\/processes/, where: region('Processes') },
  { view: 'the overview', request: /\/metrics/, where: region('Backlog') },
  { view: 'a correlation', request: /\/waiting/, where: region('Waits for') },
  { view: 'artifacts', request: /\/artifacts\/summary/, where: aside('Summary') },
  { view: 'an artifact', request: /\/explain/, where: region('Who consumed it, and why') },
  { view: 'an agent', request: /\/history-summary/, where: region('History') },
  { view: 'an agent', request: /\/api\/v1\/executions\?(?!.*state)/, where: region('Newest executions') },
  { view: 'an agent', request: /\/api\/v1\/executions\?.*state/, where: region('Newest failures') },
  { view: 'the graph', request: /\/api\/v1\/activity/, where: main },
  { view: 'the graph', request: /\/api\/v1\/waiting/, where: main },
  { view: 'an experiment', request: /\/rows/, where: region('Rows') },
  { view: 'a batch', request: /results_limit=100/, where: region('Results') },
  { view: 'a new batch', request: /\/api\/v1\/agents/, where: main },
  { view: 'publishing', request: /\/api\/v1\/agents/, where: main },
];

const named = (name: string): ShownView => VIEWS.find((view) => view.name === name)!;

describeFilledDashboard('a view', (dashboard) => {
  const address = ({ path }: ShownView, at = dashboard.app.url): string => `${at}/dashboard${path(dashboard.content)}`;

  /** The messages of failures in a part of a page. */
  const failures = (within: Locator): Locator => within.getByRole('alert').filter({ hasText: DETAIL });

  it.each(VIEWS)('says what the service says if its requests fail, and asks again: $name', async (view) => {
    const { page } = await dashboard.open();
    await page.route(REQUESTS, refuse);
    await page.goto(address(view));
    await failures(main(page)).first().waitFor();
    await eventually('nothing seems to load', async () => (await page.locator('[data-loading]').count()) === 0);
    expect(await accessibilityFaults(page)).toEqual([]);

    await page.unroute(REQUESTS);
    await askAgain(failures(main(page)));
    await showsContent(page, view);
  });

  it.each(PARTS)('says which of its parts could not be read, and asks again: $view, $request', async (part) => {
    const { page } = await dashboard.open();
    await page.route(part.request, refuse);
    await page.goto(address(named(part.view)));
    const failure = failures(part.where(page));
    await failure.first().waitFor();
    await page.unroute(part.request);
    await askAgain(failure);
  });

  describe('while the service is away', () => {
    let proxy: CuttableProxy;
    beforeAll(async () => {
      proxy = await CuttableProxy.start(dashboard.app.url);
    });
    afterAll(() => proxy.cut());

    const openAll = async (context: BrowserContext): Promise<{ view: ShownView; page: Page }[]> => {
      const tabs = [];
      for (const view of VIEWS) {
        const { page } = await openTab(context);
        await page.goto(address(view, proxy.url));
        await showsContent(page, view);
        await page.getByText('Live', { exact: true }).waitFor();
        tabs.push({ view, page });
      }
      return tabs;
    };

    it('keeps what it shows and says since when, each of them', async () => {
      const tabs = await openAll((await dashboard.open()).page.context());
      let failed = 0;
      tabs[0]!.page.on('requestfailed', () => void (failed += 1));
      await proxy.cut();
      await eventually('the overview has asked in vain', () => failed > 2);
      for (const { page, view } of tabs) {
        await page.getByRole('alert').filter({ hasText: 'The service has not answered since' }).waitFor();
        await showsContent(page, view);
        expect([view.name, await page.getByText('could not be').allInnerTexts()]).toEqual([view.name, []]);
        expect(await accessibilityFaults(page)).toEqual([]);
      }
      // The message is shown for 15 s, in which the tabs might not be looked at one by one.
      const returns = tabs.map(({ page }) => page.getByText('The service is back since').waitFor());
      await proxy.restore();
      await Promise.all(returns);
      for (const { page, view } of tabs) {
        await showsContent(page, view);
        expect([view.name, await page.getByRole('alert').allInnerTexts()]).toEqual([view.name, []]);
      }
    });
  });
});
