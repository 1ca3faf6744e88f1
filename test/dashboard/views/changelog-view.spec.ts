// Opens the web app of the application in a real browser, directly and through a proxy whose connections are cut.
import type { Page } from 'playwright-core';

import { CuttableProxy } from '../../support/cuttable-proxy.js';
import { eventually } from '../../support/eventually.js';
import { accessibilityFaults, askAgain, describeDashboard, LOOKS, scrollsSideways } from '../../support/page-checks.js';

const CONFIG = `
agents:
  echo:
    consumes: [{ types: [Order] }]
    publishes: [{ type: Echo }]
    engine: { kind: expression, expression: '{"n": payload.n}' }
  divider:
    consumes: [{ types: [Order], where: payload.n == 0 }]
    publishes: [{ type: Quotient }]
    engine: { kind: expression, expression: '{"n": 1 / payload.n}' }
    retry: { attempts: 2, delay: 10ms }
  many:
    consumes: [{ types: [Seed] }]
    publishes: [{ type: Grain }]
    engine: { kind: function, module: ./many.ts }
`;

const FILES = {
  'many.ts': 'export default async ([{ payload }]: any) => Array.from({ length: payload.count }, (_, n) => ({ n }));',
};

/** The outputs that one execution may have. */
const MOST_OUTPUTS = 1_000;

describeDashboard('the view Changelog', { config: CONFIG, files: FILES }, (dashboard) => {
  const publish = (type: string, payload: object, correlation = 'orders'): Promise<unknown> =>
    dashboard.app.http
      .post('/api/v1/artifacts/sync')
      .set('X-Correlation-ID', correlation)
      .send({ type, payload })
      .expect(200);

  const open = async (page: Page, path: string, url = dashboard.app.url): Promise<void> => {
    await page.goto(`${url}/dashboard${path}`);
    await page.getByText('Live', { exact: true }).waitFor({ state: 'attached' });
  };

  const proxies: CuttableProxy[] = [];
  afterEach(() => Promise.all(proxies.splice(0).map((proxy) => proxy.cut())));
  const startProxy = async (): Promise<CuttableProxy> => {
    const proxy = await CuttableProxy.start(dashboard.app.url);
    proxies.push(proxy);
    return proxy;
  };

  const rowOf = (page: Page, ...texts: string[]) =>
    texts.reduce((rows, hasText) => rows.filter({ hasText }), page.getByRole('row'));

  const beforeOf = (url: string): number => Number(new URL(url, dashboard.app.url).searchParams.get('before'));

  /** The positions of the entries in sight, in the order of the rows. */
  const positions = async (page: Page): Promise<number[]> => {
    const texts = await page.getByRole('row').locator('[role=cell]:nth-last-child(2)').allInnerTexts();
    return texts.filter((text) => /^[\d,]+$/.test(text)).map((text) => Number(text.replaceAll(',', '')));
  };

  const end = async (): Promise<number> => {
    const { body } = await dashboard.app.http.get('/api/v1/changelog/events?order=desc&limit=1').expect(200);
    return body.items[0].seq;
  };

  it('shows what is published and what happens to executions, as it happens', async () => {
    const { page, complaints } = await dashboard.open();
    await open(page, '/changelog');
    await page.getByText('Nothing has been published yet').waitFor();
    await publish('Order', { n: 0 });
    await rowOf(page, 'published', 'Order', 'by a client').waitFor();
    await rowOf(page, 'published', 'Echo', 'by echo').waitFor();
    await rowOf(page, 'consumed', 'echo').waitFor();
    await rowOf(page, 'started', 'divider', 'attempt 2').waitFor();
    await rowOf(page, 'retrying', 'divider', 'in attempt 1').waitFor();
    await rowOf(page, 'failed', 'divider', 'in attempt 2').waitFor();
    await rowOf(page, 'settled', 'completed').waitFor();
    expect(complaints).toEqual([]);

    await page.reload();
    await rowOf(page, 'published', 'Echo', 'by echo').getByRole('link', { name: 'Echo', exact: true }).click();
    await page.waitForURL('**/artifacts/*');
  });

  it('collects new rows while the pointer is in the list, and while it is paused', async () => {
    const { page } = await dashboard.open();
    await open(page, '/changelog?kind=artifact_published');
    await page.getByRole('row').nth(2).hover();
    const before = await positions(page);
    await publish('Order', { n: 1 });
    await page.getByRole('button', { name: '2 new' }).waitFor();
    expect(await positions(page)).toEqual(before);
    await page.getByRole('button', { name: '2 new' }).click();
    await eventually('the new rows are on top', async () => (await positions(page))[0] === (await end()));

    await page.getByRole('button', { name: 'Pause' }).click();
    await page.waitForURL('**/changelog?kind=artifact_published&paused=true');
    await page.reload();
    await page.getByText('Paused;').waitFor();
    await page.getByRole('row').nth(1).waitFor();
    await page.getByText('Live', { exact: true }).waitFor();
    await publish('Order', { n: 2 });
    await page.getByRole('button', { name: 'Resume (2 new)' }).click();
    await eventually('the new rows are on top', async () => (await positions(page))[0] === (await end()));
    await page.getByRole('button', { name: 'Pause' }).waitFor();
  });

  it('keeps its filters when the page is loaded again, and through back and forward', async () => {
    const { page } = await dashboard.open();
    await publish('Order', { n: 3 }, 'filtered');
    await open(page, '/changelog');
    const add = async (label: string, value: string): Promise<void> => {
      await page.getByLabel(label, { exact: true }).fill(value);
      await page.keyboard.press('Enter');
    };
    await add('Type', 'Echo');
    await add('Agent or producer', 'echo');
    await add('Correlation', 'filtered');
    await page.waitForURL('**/changelog?type=Echo&agent=echo&correlation_id=filtered');
    await page.reload();
    await rowOf(page, 'Echo').waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.waitForURL('**/agents');
    await page.goBack();
    await page.getByRole('button', { name: 'Remove Echo', exact: true }).waitFor();
    await rowOf(page, 'Echo').waitFor();
    await page.goForward();
    await page.waitForURL('**/agents');
    await page.goBack();

    await page.mouse.move(0, 0);
    await page.getByText('Live', { exact: true }).waitFor();
    await publish('Order', { n: 4 }, 'other');
    await publish('Order', { n: 5 }, 'filtered');
    await eventually('the row that matches came', async () => (await page.getByRole('row').count()) === 3);
    await page.getByRole('button', { name: 'Remove Echo', exact: true }).click();
    await add('Event', 'execution_started');
    await page.getByText('Nothing has happened yet').waitFor();
    await page.getByRole('heading', { level: 1 }).click();
    await publish('Order', { n: 6 }, 'filtered');
    await rowOf(page, 'started', 'echo').waitFor();
    expect(await page.getByRole('row').count()).toBe(2);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.waitForURL('**/changelog');
    await rowOf(page, 'published', 'Order').first().waitFor();
  });

  it('has each entry once after an interruption, and says that live events may be missing', async () => {
    const proxy = await startProxy();
    const { page } = await dashboard.open();
    await open(page, '/changelog?correlation_id=cut', proxy.url);
    await publish('Order', { n: 1 }, 'cut');
    await rowOf(page, 'published', 'Echo').waitFor();
    await rowOf(page, 'settled').waitFor();
    await proxy.cut();
    await page.getByText('The service has not answered since').waitFor();
    for (const n of [2, 3, 4]) await publish('Order', { n }, 'cut');
    await proxy.restore();
    await page.getByText('Live events may be missing here; 6 entries fetched').waitFor();
    await publish('Order', { n: 5 }, 'cut');
    await eventually('the newest entry is there', async () => (await positions(page))[0] === (await end()));
    const { body } = await dashboard.app.http.get('/api/v1/changelog/events?order=desc&correlation_id=cut').expect(200);
    expect(await positions(page)).toEqual(body.items.map(({ seq }: { seq: number }) => seq));
  });

  it('begins again after an interruption in which very many entries came, and reads older ones while it is scrolled', async () => {
    const proxy = await startProxy();
    const { page } = await dashboard.open();
    await open(page, '/changelog?type=Grain', proxy.url);
    await page.getByText('No entry matches these filters').waitFor();
    await proxy.cut();
    await page.getByText('The service has not answered since').waitFor();
    for (let n = 0; n < 3; n += 1) await publish('Seed', { count: MOST_OUTPUTS }, `grains-${n}`);
    await proxy.restore();
    await eventually('the newest entry is there', async () => (await positions(page))[0] === (await end()));
    const seen = new Set(await positions(page));
    await page.getByRole('region', { name: 'Changelog' }).hover();
    const older = page.getByRole('link', { name: 'Show older entries' });
    await eventually('the end of the list is in sight', async () => {
      const inSight = await positions(page);
      // A busy page may scroll by several turns of the wheel together. Then the list goes back to what was not shown.
      const isNext = inSight.some((position) => seen.has(position));
      if (isNext) for (const position of inSight) seen.add(position);
      await page.mouse.wheel(0, isNext ? 600 : -600);
      return (await older.count()) > 0 && seen.has(beforeOf((await older.getAttribute('href'))!));
    });
    expect(seen.size).toBeGreaterThan(1_900);
    expect(await page.getByRole('row').count()).toBeLessThan(60);
    await page.getByText('This list keeps 2,000 rows.').waitFor();
    await older.click();
    await page.waitForURL('**/changelog?type=Grain&before=*');
    const before = beforeOf(page.url());
    await eventually('older entries are there', async () => (await positions(page))[0]! < before);
    await page.getByRole('button', { name: 'Back to the newest' }).click();
    await eventually('the newest entry is there', async () => (await positions(page))[0] === (await end()));
  });

  it("shows the server's answer to a wrong position, and asks again if the list cannot be read", async () => {
    const { page } = await dashboard.open();
    await open(page, '/changelog?before=yesterday');
    await page.getByRole('alert').filter({ hasText: 'after: must be a whole number of at least 0' }).waitFor();
    await page.route('**/api/v1/changelog/events?*', (route) =>
      route.fulfill({ status: 503, json: { detail: 'The database is not available' } }),
    );
    await open(page, '/changelog');
    const message = page.getByRole('alert').filter({ hasText: 'The database is not available' });
    await message.waitFor();
    await page.unroute('**/api/v1/changelog/events?*');
    await askAgain(message);
    await rowOf(page, 'published').first().waitFor();
  });

  it.each(LOOKS)('is accessible: $colorScheme, $width px', async (look) => {
    const { page } = await dashboard.open(look);
    await open(page, '/changelog');
    await publish('Order', { n: 0 }, 'looks');
    await rowOf(page, 'settled').waitFor();
    expect(await accessibilityFaults(page)).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  });
});
