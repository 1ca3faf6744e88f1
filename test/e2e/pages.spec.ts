// Opens the two documentation pages of the application in a real browser, with every other origin blocked.
import type { Browser, Page } from 'playwright-core';

import { startApp, type TestApp } from '../support/app.js';
import { describeInBrowser, startBrowser } from '../support/browser.js';

const CONFIG = `
types:
  CustomerMessage:
    schema: { type: object, required: [text], properties: { text: { type: string } } }
agents: {}
`;

describeInBrowser('documentation in a browser', () => {
  let app: TestApp;
  let browser: Browser;
  let page: Page;
  let elsewhere: string[];
  let complaints: string[];

  beforeAll(async () => {
    app = await startApp({ config: CONFIG, settings: { serverName: 'Support desk' } });
    browser = await startBrowser();
  });
  afterAll(async () => {
    await browser.close();
    await app.close();
  });

  beforeEach(async () => {
    const context = await browser.newContext();
    elsewhere = [];
    complaints = [];
    await context.route(
      (url) => url.origin !== app.url && url.protocol.startsWith('http'),
      (route) => {
        elsewhere.push(route.request().url());
        return route.abort();
      },
    );
    page = await context.newPage();
    // Refusals by the policy are written to the console, and are not requests.
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
    page.on('pageerror', (error) => void complaints.push(String(error)));
  });
  afterEach(() => page.context().close());

  it('/docs renders, and "Try it out" publishes the example as it is', async () => {
    await page.goto(`${app.url}/docs`);
    expect(await page.title()).toBe('Support desk');
    const operation = page.locator('#operations-Artifacts-artifactsPublish');
    await operation.locator('.opblock-summary-control').click();
    await operation.locator('button.execute').click();
    await operation.locator('.live-responses-table .response-col_status', { hasText: '200' }).waitFor();

    const { body: list } = await app.http.get('/api/v1/artifacts').expect(200);
    expect(list.items).toEqual([
      expect.objectContaining({ type: 'CustomerMessage', produced_by: 'external', tags: [] }),
    ]);
    expect([elsewhere, complaints]).toEqual([[], []]);
  });

  it('/redoc renders', async () => {
    await page.goto(`${app.url}/redoc`);
    expect(await page.title()).toBe('Support desk');
    await page.locator('h1', { hasText: 'Support desk' }).waitFor();
    await page.locator('h2', { hasText: 'Publish an artifact and wait' }).waitFor();
    expect(await page.locator('[role=menuitem]').count()).toBeGreaterThan(10);
    await page.waitForLoadState('networkidle');
    expect([elsewhere, complaints]).toEqual([[], []]);
  });
});
